package pbs

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// What print hook writes is imported as it was, and leaves the directives behind it; what is no
// base64 is refused and takes no more than its own block.
func FuzzReadContent(f *testing.F) {
	f.Add([]byte("import pbs\n"), "set hook h enabled = true\n", "aGVsbG8=\n\nquit\n")
	f.Add([]byte(nil), "", "=\n=\n")
	f.Add(bytes.Repeat([]byte{0xff}, 200), "\n", "aGVs\r\nbG8=\r\n\r\n")
	f.Add([]byte("x"), "aGVs", "aG=Vs\n")
	f.Fuzz(func(t *testing.T, text []byte, after, other string) {
		read := func(in string) ([]byte, string, error) {
			m := &manager{in: bufio.NewReader(strings.NewReader(in))}
			got, err := m.readContent(&content{encoding: base64Coding, file: "-"})
			left, _ := io.ReadAll(m.in)
			return got, string(left), err
		}
		got, left, err := read(string(encoded(text)) + "\n" + after)
		if err != nil || !bytes.Equal(got, text) || left != after {
			t.Errorf("%q came back as %q, %v, with %q left of %q", text, got, err, left, after)
		}
		got, left, err = read(other)
		block := len(other) - len(left)
		if !strings.HasSuffix(other, left) || len(got) > block || err != nil && len(got) > 0 {
			t.Errorf("%q is read as %q, %v, and leaves %q", other, got, err, left)
		}
		for line := range strings.Lines(other[:block]) {
			if block -= len(line); strings.TrimSpace(line) == "" && block > 0 {
				t.Errorf("%q is read beyond its empty line", other)
			}
		}
	})
}

// qdel's -W is refused as a whole or has a number of mails that is at least 0.
func FuzzParseDelete(f *testing.F) {
	f.Add("force", "suppress_email=5")
	f.Add("suppress_email=-1", "suppress_email=0")
	f.Add("suppress_email=-2", "force=1")
	f.Add("suppress_email=99999999999", "")
	f.Fuzz(func(t *testing.T, one, two string) {
		d, ok := parseDelete([]string{one, two})
		if !ok {
			if d != (deletion{}) {
				t.Errorf("-W %q -W %q is refused and is %+v", one, two, d)
			}
			return
		}
		if d.mails < 0 || d.force != (one == "force" || two == "force") {
			t.Errorf("-W %q -W %q is %+v", one, two, d)
		}
		if again, ok := parseDelete([]string{two, two}); !ok || again.mails != d.mails && two != "force" {
			t.Errorf("the last one counts: %+v, %+v", d, again)
		}
	})
}
