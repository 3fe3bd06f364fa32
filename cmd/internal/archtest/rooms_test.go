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
	_, section, _ := strings.Cut(string(text), "## Where a rule is\n")
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

// The designs of the mom and of the cluster name files and functions of them at which a rule begins.
func TestDesignsLeadToRules(t *testing.T) {
	for _, doc := range []string{"mom/DESIGN.md", "cluster/DESIGN.md"} {
		_, section, _ := strings.Cut(read(t, doc), "## Where a rule is\n")
		section, _, _ = strings.Cut(section, "\n## ")
		named := 0
		for _, row := range regexp.MustCompile(`(?m)^\| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(section, -1) {
			path, source := "", ""
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
				switch word := m[1]; {
				case strings.HasSuffix(word, ".go"):
					path, source = word, read(t, word)
				case regexp.MustCompile(`^[A-Za-z]+$`).MatchString(word):
					if named++; !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + word + `\(`).MatchString(source) {
						t.Errorf("%s names %s of %s, which is not there", doc, word, path)
					}
				}
			}
		}
		if named < 20 {
			t.Errorf("%d functions were named in %s: the table was not read", named, doc)
		}
	}
}
