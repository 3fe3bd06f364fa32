package mom

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/cmd/rampart/home"
)

// The words of pbs_mom -s (specification: cli-contract section 9).
func TestDefine(t *testing.T) {
	h := home.Home(t.TempDir())
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "def")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("$configversion 2\nhosta[0]: resources_available.ncpus = 1\nhosta[0]: Priority = 5\n")
	bad := file("hosta[0]: resources_available.ncpus = 1\n")
	for _, c := range []struct {
		words string
		out   string
		fails bool
	}{
		{words: "list"},
		{words: "insert v1 " + bad, fails: true},
		{words: "insert v1 " + good},
		{words: "insert v1 " + good, fails: true},
		{words: "insert ../v1 " + good, fails: true},
		{words: "insert v2 /nosuch", fails: true},
		{words: "insert v2", fails: true},
		{words: "replace v2 " + good},
		{words: "list", out: "v1\nv2\n"},
		{words: "show v1", out: "$configversion 2\nhosta[0]: resources_available.ncpus = 1\nhosta[0]: Priority = 5\n"},
		{words: "show v3", fails: true},
		{words: "remove v1"},
		{words: "remove v1", fails: true},
		{words: "list", out: "v2\n"},
		{words: "destroy v2", fails: true},
	} {
		words := strings.Fields(c.words)
		var out bytes.Buffer
		err := Define(h, &out, words[0], words[1:])
		if (err != nil) != c.fails || err != nil && !errors.Is(err, ErrDefinition) || out.String() != c.out {
			t.Errorf("-s %s: %v, said %q", c.words, err, out.String())
		}
	}
}
