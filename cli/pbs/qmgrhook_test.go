package pbs

import (
	"bufio"
	"encoding/base64"
	"io"
	"strings"
	"testing"
)

// A script comes from standard input to its end, or as base64 up to an empty line: what follows that
// are directives again, as print hook writes them.
func TestReadContent_StandardInput(t *testing.T) {
	script := strings.Repeat("import pbs\n# a line of the script\n", 20)
	code := base64.StdEncoding.EncodeToString([]byte(script))
	var lines strings.Builder
	for rest := code; rest != ""; {
		n := min(76, len(rest))
		lines.WriteString(rest[:n] + "\n")
		rest = rest[n:]
	}
	for _, c := range []struct {
		what, encoding, in, want, left string
		bad                            bool
	}{
		{"plain", plainEncoding, script + "\n\nmore\n", script + "\n\nmore\n", "", false},
		{"in lines", base64Coding, lines.String() + "\nset hook h enabled = true\n", script, "set hook h enabled = true\n", false},
		{"in one line", base64Coding, code + "\n\n", script, "", false},
		{"to the end", base64Coding, code, script, "", false},
		{"lines of Windows", base64Coding, strings.ReplaceAll(lines.String(), "\n", "\r\n") + "\r\nquit\n", script, "quit\n", false},
		{"none", base64Coding, "\nquit\n", "", "quit\n", false},
		{"no base64", base64Coding, "import pbs!\n\n", "", "", true},
	} {
		m := &manager{in: bufio.NewReader(strings.NewReader(c.in))}
		got, err := m.readContent(&content{encoding: c.encoding, file: "-"})
		if (err != nil) != c.bad || string(got) != c.want {
			t.Errorf("%s: %d bytes, %v", c.what, len(got), err)
		}
		if left, _ := io.ReadAll(m.in); string(left) != c.left {
			t.Errorf("%s: %q is left, want %q", c.what, left, c.left)
		}
	}
}
