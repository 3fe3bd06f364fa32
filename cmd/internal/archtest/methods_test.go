package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// methodsMost is how many methods a type may have. With more of them nobody sees which fields belong together: a
// subject with a state and rules of its own is a type of its own, to which the large one gives what it needs.
const methodsMost = 60

// methodsMore are the types that have more. What divides one of them takes it off.
var methodsMore = []string{
	"cluster/sched.cycle", "cluster/sched.world", "fsm/state.Tx", "fsm/state.tables",
}

func TestMethodsAreFew(t *testing.T) {
	count := map[string]int{}
	for _, p := range list(t, "./...") {
		pkg, _ := short(p.ImportPath)
		for _, file := range append(p.GoFiles, p.IgnoredGoFiles...) {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(parsed) {
				continue
			}
			for _, decl := range parsed.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
					count[pkg+"."+receiver(f.Recv.List[0].Type)]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		known := slices.Contains(methodsMore, name)
		switch n := count[name]; {
		case n > methodsMost && !known:
			t.Errorf("%s has %d methods, at most %d are allowed: make a type of each subject (cluster/DESIGN.md shows how a Replica is divided)", name, n, methodsMost)
		case n <= methodsMost && known:
			t.Errorf("%s has %d methods by now: take it off methodsMore", name, n)
		}
	}
	for _, name := range methodsMore {
		if count[name] == 0 {
			t.Errorf("methodsMore names %s, which has no methods", name)
		}
	}
}

// receiver returns the name of the type that a method is of.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
