package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The design of the state has each file of the vocabulary of the log in one row, by its subject.
func TestDesignHasARoomForEachCommand(t *testing.T) {
	text, err := os.ReadFile("../../../fsm/DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## The files of `command`, by subject\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| [^|]+ \| (`+"`"+`[^|]+) \|`).FindAllStringSubmatch(section, -1) {
		listed = append(listed, strings.Fields(strings.ReplaceAll(row[1], "`", ""))...)
	}
	files, err := filepath.Glob("../../../fsm/command/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		if strings.HasSuffix(name, "_test") {
			continue
		}
		at := slices.Index(listed, name)
		if at < 0 {
			t.Errorf("fsm/DESIGN.md says of which subject each file of fsm/command is, and not of %s.go", name)
			continue
		}
		listed = slices.Delete(listed, at, at+1)
	}
	if len(listed) > 0 {
		t.Errorf("fsm/DESIGN.md names files of fsm/command that are not there, or twice: %v", listed)
	}
}

// ruleWord is what the table of rules quotes: a file, or a function of the file before it.
var ruleWord = regexp.MustCompile("`([^`]+)`")

// The table of rules in the document of the architecture names files, and functions of them, and asks each question once.
func TestRulesAreWhereTheTableSays(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/architecture.md"), "## Where a rule is\n")
	section, _, _ = strings.Cut(section, "\n## ")
	asked := map[string]bool{}
	named := 0
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|*]+) \| ([^|]+) \|$`).FindAllStringSubmatch(section, -1) {
		if asked[row[1]] {
			t.Errorf("docs/architecture.md asks twice: %s", row[1])
		}
		asked[row[1]] = true
		path, source := "", ""
		for _, m := range ruleWord.FindAllStringSubmatch(row[2], -1) {
			if word := m[1]; strings.Contains(word, "/") {
				path, source = word, read(t, word)
			} else if named++; !declares(path, source, word) {
				t.Errorf("docs/architecture.md names %s of %s, which is not there", word, path)
			}
		}
		if path == "" && row[1] != "question" && !strings.HasPrefix(row[1], "---") {
			t.Errorf("docs/architecture.md names no file for %q", row[1])
		}
	}
	if named < 120 {
		t.Errorf("%d functions were named in docs/architecture.md: the table was not read", named)
	}
}

// declares reports whether a source in Go or Python declares a function or a method of the name.
func declares(path, source, name string) bool {
	pattern := `(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(name) + `\(`
	if strings.HasSuffix(path, ".py") {
		pattern = `(?m)^ *def ` + regexp.QuoteMeta(name) + `\(`
	}
	return regexp.MustCompile(pattern).MatchString(source)
}

func TestDeclares(t *testing.T) {
	for _, c := range []struct {
		path, source, name string
		want               bool
	}{
		{"a.go", "func end() {}", "end", true},
		{"a.go", "func (l loss) end() {}", "end", true},
		{"a.go", "func ended() {}", "end", false},
		{"a.go", "// func end()", "end", false},
		{"a.py", "    def _may(self):", "_may", true},
		{"a.py", "    self._may(name)", "_may", false},
	} {
		if got := declares(c.path, c.source, c.name); got != c.want {
			t.Errorf("declares(%s, %q, %s) = %v", c.path, c.source, c.name, got)
		}
	}
}
