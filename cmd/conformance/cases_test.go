package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// numbered are the chapters of the specification whose cases are all shown by tests, and how
// many each has. The test of a case names it: a script in its file name or its text, a Go test
// in its comment or its table.
var numbered = map[string]int{"AC": 8, "CL": 13, "LG": 6, "RD": 42, "RK": 15, "RG": 5, "RU": 12, "HK": 11, "RS": 21, "RC": 2, "RV": 79}

// unnamed are the cases that no test plays as they are written, and why.
var unnamed = map[string]string{
	"RV75": "a connection cut behind the commit cannot be timed on real processes: TestReserve_Repeated shows that a repeat finds its reservation",
}

// TestCases_EachHasATest fails for a case of the specification that no test names.
func TestCases_EachHasATest(t *testing.T) {
	named := map[string]bool{}
	id := regexp.MustCompile(`\b[A-Z]{2}-?[0-9]+\b`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "cases_test.go" || !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range id.FindAllString(filepath.Base(path)+"\n"+string(text), -1) {
			named[strings.ReplaceAll(name, "-", "")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for chapter, cases := range numbered {
		for n := 1; n <= cases; n++ {
			name := fmt.Sprint(chapter, n)
			if _, known := unnamed[name]; known == named[name] {
				if known {
					t.Errorf("a test names %s-%d: it needs no reason", chapter, n)
					continue
				}
				t.Errorf("no test names %s-%d", chapter, n)
			}
		}
	}
}
