package archtest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The document of the architecture has each package with the first sentence of its comment, and none that is gone.
func TestDocumentListsPackages(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var rows, packages []string
	said := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*) \\|$").FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
		said[m[1]] = m[2]
	}
	for _, p := range list(t, "./...") {
		name, _ := short(p.ImportPath)
		if packages = append(packages, name); !slices.Contains(rows, name) {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
		if want, ok := owns(p.Doc); ok && slices.Contains(rows, name) && strings.ReplaceAll(said[name], "`", "") != want {
			t.Errorf("docs/architecture.md says of %s %q, its comment %q", name, said[name], want)
		}
	}
	for _, row := range rows {
		if !slices.Contains(packages, row) {
			t.Errorf("docs/architecture.md has a row for %s, which is no package", row)
		}
	}
}

// owns returns what the synopsis of a package's comment says of it, as a sentence; false for a comment of a program, or of generated code.
func owns(synopsis string) (sentence string, ok bool) {
	m := regexp.MustCompile("^Package [a-z0-9]+ ([a-z])(.*)$").FindStringSubmatch(strings.ReplaceAll(synopsis, "`", ""))
	if m == nil {
		return "", false
	}
	return strings.ToUpper(m[1]) + m[2], true
}
