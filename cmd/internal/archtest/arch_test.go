package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "rampart/"

type listed struct {
	ImportPath, Dir string
	Doc             string // the first sentence of its comment
	GoFiles         []string
	TestGoFiles     []string
	XTestGoFiles    []string
	IgnoredGoFiles  []string // of another system, or behind a build tag
	Imports         []string
	TestImports     []string
	XTestImports    []string
	Deps            []string
}

// listing is what go list says of all packages, asked once for all tests.
var listing = sync.OnceValues(func() (all []listed, err error) {
	cmd := exec.Command("go", "list", "-e", "-json", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// list returns the packages that patterns such as ./fsm/state and ./fsm/... name, each of which names one at least.
func list(t *testing.T, patterns ...string) (named []listed) {
	t.Helper()
	all, err := listing()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, p := range all {
		name, _ := short(p.ImportPath)
		here := false
		for _, pattern := range patterns {
			folder, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "...")
			if name == strings.TrimSuffix(folder, "/") || below && strings.HasPrefix(name, folder) {
				here, found[pattern] = true, true
			}
		}
		if here {
			named = append(named, p)
		}
	}
	for _, pattern := range patterns {
		if !found[pattern] {
			t.Errorf("%s names no package", pattern)
		}
	}
	return named
}

func short(importPath string) (string, bool) { return strings.CutPrefix(importPath, module) }

func TestArrows(t *testing.T) {
	used := map[string]bool{}
	for _, p := range list(t, "./...") {
		name, _ := short(p.ImportPath)
		rule, ok := ruleFor(name)
		if !ok {
			t.Errorf("%s has no rule in the table: say what it may import, and why", name)
			continue
		}
		used[rule.Package] = true
		for _, imp := range p.Imports {
			if dep, ours := short(imp); ours && !matchAny(rule.May, dep) {
				t.Errorf("%s imports %s: %s", name, dep, rule.Why)
			}
		}
	}
	for _, r := range Rules {
		if !used[r.Package] {
			t.Errorf("the table names %s, which is gone", r.Package)
		}
	}
}

func TestNobodyImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		name, _ := short(p.ImportPath)
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for _, n := range Nobody {
				if dep, ours := short(imp); ours && match(n.Package, dep) && !matchAny(n.But, name) {
					t.Errorf("%s imports %s: %s", name, dep, n.Why)
				}
			}
		}
	}
}

// A program whose output is read may leave processes behind that keep it open: who reads it says
// how long he waits for them.
func TestProgramsHoldNobody(t *testing.T) {
	tools := []string{"cmd/bench", "cmd/bench/bare", "cmd/devrun", "cmd/conformance"}
	for _, p := range list(t, "./...") {
		if name, _ := short(p.ImportPath); slices.Contains(tools, name) || strings.HasPrefix(name, "cmd/internal/") {
			continue
		}
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			reads := bytes.Contains(text, []byte("Output()")) || bytes.Contains(text, []byte("bytes.Buffer"))
			if bytes.Contains(text, []byte("exec.Command")) && reads && !bytes.Contains(text, []byte("WaitDelay")) {
				t.Errorf("%s/%s reads the output of a program without WaitDelay", p.ImportPath, file)
			}
		}
	}
}

func TestTopFolders(t *testing.T) {
	folders := []string{"cmd", "cli", "transport", "cluster", "fsm", "mom", "chaos"}
	for _, p := range list(t, "./...") {
		name, _ := short(p.ImportPath)
		if top, _, _ := strings.Cut(name, "/"); !slices.Contains(folders, top) {
			t.Errorf("%s: Go code lives in %v", p.ImportPath, folders)
		}
	}
}

func TestPureFSM(t *testing.T) {
	for _, p := range list(t, "./fsm/...") {
		for _, file := range p.GoFiles {
			checkPure(t, filepath.Join(p.Dir, file))
		}
	}
}

func checkPure(t *testing.T, path string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // local name -> import path
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		local := filepath.Base(p)
		if imp.Name != nil {
			local = imp.Name.Name
		}
		names[local] = p
		for _, ban := range Bans {
			if ban.Name == "" && ban.Import == p {
				t.Errorf("%s imports %s: %s (L4)", fset.Position(imp.Pos()), p, ban.Why)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: go statement: Apply is one thread (L4)", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			for _, ban := range Bans {
				if ok && ban.Name == n.Sel.Name && names[x.Name] == ban.Import {
					t.Errorf("%s: %s.%s: %s (L4)", fset.Position(n.Pos()), ban.Import, ban.Name, ban.Why)
				}
			}
		}
		return true
	})
}

func TestPackageComments(t *testing.T) {
	for _, p := range list(t, "./...") {
		commented := 0
		generated := false
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(f) {
				generated = true
			} else if f.Doc != nil {
				commented++
			}
		}
		if onlyTests := len(p.GoFiles) == 0; !onlyTests && !(generated && commented == 0) && commented != 1 {
			t.Errorf("%s has %d package comments, want one that says what it owns", p.ImportPath, commented)
		}
	}
}

func TestLeanCommands(t *testing.T) {
	for _, p := range list(t, "./cmd/pbs") {
		for _, ban := range Lean {
			if slices.Contains(p.Deps, ban.Package) {
				t.Errorf("the user commands carry %s: %s", ban.Package, ban.Why)
			}
		}
	}
}

func TestRulesCatch(t *testing.T) {
	if r, _ := ruleFor("fsm/state"); matchAny(r.May, "fsm/command") {
		t.Error("fsm/state may import fsm/command")
	}
	if r, _ := ruleFor("cli/pbs"); r.Package != "cli/*" || !matchAny(r.May, "cli/render") || matchAny(r.May, "fsm/state") {
		t.Errorf("rule for cli/pbs: %+v", r)
	}
	if r, _ := ruleFor("mom/proc/fake"); r.Package != "mom/proc/*" {
		t.Errorf("rule for mom/proc/fake: %+v", r)
	}
	if _, ok := ruleFor("util"); ok {
		t.Error("a package outside the tree has a rule")
	}
}
