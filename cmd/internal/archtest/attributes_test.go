package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/fsm/attr"
)

// An attribute that people can set and nobody reads would be a promise that is not kept: the page of
// differences names each of them, and says why (specification: breadth section 4).
func TestAttributes_ReadOrExplained(t *testing.T) {
	const root = "../../.."
	var code strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		table := strings.HasPrefix(entry.Name(), "table_") && filepath.Base(filepath.Dir(path)) == "attr" || entry.Name() == "_constants.py" // names alone
		if err != nil || entry.IsDir() || table || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".py") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/pbs-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Attributes that are kept and decide nothing\n")
	section, _, _ = strings.Cut(section, "\n## ")
	read := func(name string) bool {
		return strings.Contains(code.String(), `"`+name+`"`) || strings.Contains(code.String(), "'"+name+"'")
	}
	for _, object := range []attr.Object{attr.Server, attr.Queue, attr.Vnode, attr.Sched, attr.Hook, attr.Resource, attr.Job, attr.Reservation} {
		for _, def := range attr.All(object) {
			explained := strings.Contains(section, "`"+def.Name+"`")
			// The scheduler joins "prime_" to the names of the others.
			switch known := read(def.Name) || read(strings.TrimPrefix(def.Name, "prime_")); {
			case !known && !explained:
				t.Errorf("nothing reads %s of %s, and docs/pbs-differences.md does not say why", def.Name, object)
			case known && explained:
				t.Errorf("docs/pbs-differences.md says that nothing reads %s of %s", def.Name, object)
			}
		}
	}
}
