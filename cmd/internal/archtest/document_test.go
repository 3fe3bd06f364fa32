package archtest

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The document of the architecture has each package, and none that is gone.
func TestDocumentListsPackages(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var rows, packages []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]* \\|$").FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
	}
	for _, p := range list(t, "./...") {
		name, _ := short(p.ImportPath)
		if packages = append(packages, name); !slices.Contains(rows, name) {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
	}
	for _, row := range rows {
		if !slices.Contains(packages, row) {
			t.Errorf("docs/architecture.md has a row for %s, which is no package", row)
		}
	}
}
