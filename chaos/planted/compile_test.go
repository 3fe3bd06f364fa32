package planted

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program with the bugs in it compiles: an edit may name something that is gone although its place is there still.
func TestSources_Compile(t *testing.T) {
	sources, err := Sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for file := range sources {
		packages["rampart/"+filepath.Dir(file)] = true
	}
	delete(packages, "rampart/fsm/planted")
	for name, errs := range check(t, slices.Sorted(maps.Keys(packages)), sources) {
		t.Errorf("%s with its bugs does not compile: %v", name, errs)
	}
	file := "mom/spool/orders.go"
	sources[file] = append(slices.Clone(sources[file]), "\nvar _ = gone\n"...)
	if errs := check(t, []string{"rampart/mom/spool"}, sources); len(errs) != 1 {
		t.Errorf("a name that is gone was not found: %v", errs)
	}
}

// check checks the types of packages of the module, with other sources in the place of some of their files, and returns the
// errors by package. What they import is read as it was compiled, without the bugs.
func check(t *testing.T, packages []string, sources map[string][]byte) map[string][]error {
	t.Helper()
	exports, files := list(t, packages)
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	imports := importing{compiled, map[string]*types.Package{}}
	failed := map[string][]error{}
	for _, name := range append([]string{"rampart/fsm/planted"}, packages...) {
		paths := files[name]
		if paths == nil {
			paths = []string{"fsm/planted/bug.go"}
		}
		var parsed []*ast.File
		for _, path := range paths {
			var text any
			if edited := sources[path]; edited != nil {
				text = edited
			}
			f, err := parser.ParseFile(fset, filepath.Join("../..", path), text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		config := types.Config{Importer: imports, Error: func(err error) { failed[name] = append(failed[name], err) }}
		pkg, _ := config.Check(name, fset, parsed, nil)
		if name == "rampart/fsm/planted" {
			imports.checked[name] = pkg
		}
	}
	return failed
}

// list returns where what packages import is compiled, by package, and the files of the packages from the root of the module.
func list(t *testing.T, packages []string) (exports map[string]string, files map[string][]string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", `{{.ImportPath}}|{{.Export}}|{{range .GoFiles}}{{.}} {{end}}`}, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the programs are built, so that all is compiled by now
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, files = map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		of := strings.Split(strings.TrimSpace(line), "|")
		exports[of[0]] = of[1]
		if slices.Contains(packages, of[0]) {
			for _, name := range strings.Fields(of[2]) {
				files[of[0]] = append(files[of[0]], filepath.Join(strings.TrimPrefix(of[0], "rampart/"), name))
			}
		}
	}
	return exports, files
}

// importing gives packages that were checked here before those that were compiled.
type importing struct {
	compiled types.Importer
	checked  map[string]*types.Package
}

func (i importing) Import(path string) (*types.Package, error) {
	if pkg := i.checked[path]; pkg != nil {
		return pkg, nil
	}
	return i.compiled.Import(path)
}
