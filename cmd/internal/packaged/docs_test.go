package packaged

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the module, seen from the tests.
const root = "../../.."

// shipped returns the files of the package, by their places on a host; what a tree has is listed
// file by file. Programs are not: they are made when the package is.
func shipped(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "packaging", "nfpm.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	entry := regexp.MustCompile(`(?m)^  - src: (\S+)\n    dst: (\S+)$`)
	for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
		src, dst := filepath.Join(root, m[1]), m[2]
		if strings.HasPrefix(m[1], "$") {
			continue
		}
		err := filepath.WalkDir(src, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(src, file)
				all[path.Join(dst, rel)] = file
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 10 {
		t.Fatalf("the package has %d files", len(all))
	}
	return all
}

// TestDocuments_LeadSomewhere: what a document of the package links to is in the package, and so
// is what the units name as their documentation.
func TestDocuments_LeadSomewhere(t *testing.T) {
	files := shipped(t)
	link := regexp.MustCompile(`\]\(([^)\s#]+)(#[^)]*)?\)`)
	documentation := regexp.MustCompile(`(?m)^Documentation=file:(\S+)$`)
	links := 0
	for at, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var targets []string
		switch path.Ext(at) {
		case ".md":
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
					targets = append(targets, path.Join(path.Dir(at), m[1]))
				}
			}
		case ".service":
			for _, m := range documentation.FindAllStringSubmatch(string(text), -1) {
				targets = append(targets, m[1])
			}
		}
		for _, target := range targets {
			if links++; files[target] == "" && !folder(files, target) {
				t.Errorf("%s leads to %s, which is not in the package", at, target)
			}
		}
	}
	if links < 20 {
		t.Errorf("%d links were found", links)
	}
}

func folder(files map[string]string, dir string) bool {
	for at := range files {
		if strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}
