package planted

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplace_OnceOnly(t *testing.T) {
	for text, want := range map[string]string{"a b": "a c", "a": "", "b b": ""} {
		got, err := replace([]byte(text), "b", "c")
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("replace(%q) = %q, %v", text, got, err)
		}
	}
}

// What is replaced is Go, has its bug, and stands where the program's file does.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	if _, err := Overlay("../..", dir); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		name := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Errorf("%s: %v", e.bug, err)
		}
		if !strings.Contains(string(text), `planted.Bug == "`+e.bug+`"`) || !strings.Contains(e.planted, "PLANTED") {
			t.Errorf("%s is not in %s", e.bug, e.file)
		}
	}
}
