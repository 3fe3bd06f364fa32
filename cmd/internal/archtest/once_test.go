package archtest

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
)

func TestOnce(t *testing.T) {
	for _, p := range list(t, "./...") {
		pkg, _ := short(p.ImportPath)
		for _, file := range append(p.GoFiles, p.IgnoredGoFiles...) {
			path := filepath.Join(p.Dir, file)
			for number, line := range linesOf(t, path) {
				for _, o := range Onces {
					if pkg != o.In && pkg != "cmd/internal/archtest" && o.Line.MatchString(line) {
						t.Errorf("%s:%d: use %s, which stands in %s", path, number+1, o.Use, o.In)
					}
				}
			}
		}
	}
}

func linesOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Buffer(nil, 1<<20); in.Scan(); {
		lines = append(lines, in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
