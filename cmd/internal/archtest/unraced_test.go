package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var unraced = regexp.MustCompile(`(?m)^UNRACED := ((?:.*\\\n)*.*)$`)

// TestUnracedStartNoGoroutines: what the race detector does not watch has nothing for it to see, in its tests either.
func TestUnracedStartNoGoroutines(t *testing.T) {
	found := unraced.FindStringSubmatch(read(t, "Makefile"))
	if found == nil {
		t.Fatal("the Makefile has no UNRACED")
	}
	used := map[string]bool{}
	for _, p := range list(t, strings.Fields(strings.ReplaceAll(found[1], "\\\n", " "))...) {
		pkg, _ := short(p.ImportPath)
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			at, starts := goroutine(t, filepath.Join(p.Dir, file))
			switch {
			case starts && Unraced[pkg] == "":
				t.Errorf("%s starts a goroutine: take %s from UNRACED, or say in table.go why the race detector need not see it", at, pkg)
			case starts:
				used[pkg] = true
			}
		}
	}
	for pkg := range Unraced {
		if !used[pkg] {
			t.Errorf("%s is raced, or starts no goroutine: it needs no reason", pkg)
		}
	}
}

// goroutine returns where a file starts a goroutine first, by a statement or a method called Go.
func goroutine(t *testing.T, path string) (at token.Position, starts bool) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at, starts = files.Position(n.Pos()), true
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
				at, starts = files.Position(n.Pos()), true
			}
		}
		return !starts
	})
	return at, starts
}
