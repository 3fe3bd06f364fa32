package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document for those who change the code names files that exist: from the root, or from the folder of the
// document. NAME in a path stands for any name, a star for what it matches.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	quoted := regexp.MustCompile("`([^` ]+/[^` ]+\\.(?:go|md|txt))`")
	named := 0
	for _, doc := range tracked(t, "CONTRIBUTING.md", "docs/design.md", "*DESIGN.md") {
		for _, m := range quoted.FindAllStringSubmatch(read(t, doc), -1) {
			named++
			pattern := strings.ReplaceAll(m[1], "NAME", "*")
			if !leads(pattern) && !leads(filepath.Join(filepath.Dir(doc), pattern)) {
				t.Errorf("%s names %s, which is gone", doc, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("%d files were named: the documents were not read", named)
	}
}

// leads reports whether a pattern from the root matches a file.
func leads(pattern string) bool {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	return err == nil && len(found) > 0
}
