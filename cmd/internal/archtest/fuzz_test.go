package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fuzzTargets returns the Fuzz functions of files of a package, as "FOLDER NAME".
func fuzzTargets(t *testing.T, p listed, files []string) map[string]bool {
	t.Helper()
	name, _ := short(p.ImportPath)
	found := map[string]bool{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				found[name+" "+f.Name.Name] = true
			}
		}
	}
	return found
}

// played is a call of go by make fuzz.
var played = regexp.MustCompile(`^test .*-fuzz \^(\S+)\$ -fuzztime 1x .*\./(\S+)$`)

// What is fuzzed by nobody is a parser that nobody fuzzes: make fuzz plays every target, each by
// its name, and nothing else. A program in go's place notes what it is called with.
func TestMakeFuzzRunsEveryTarget(t *testing.T) {
	for _, tool := range []string{"make", "git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s: %v", tool, err)
		}
	}
	want := map[string]bool{}
	for _, p := range list(t, "./...") {
		maps.Copy(want, fuzzTargets(t, p, slices.Concat(p.TestGoFiles, p.XTestGoFiles)))
		for target := range fuzzTargets(t, p, p.IgnoredGoFiles) {
			t.Errorf("%s stands in a file that go test leaves out", target)
		}
	}
	if len(want) == 0 {
		t.Fatal("no target was found")
	}
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho \"$*\" >>'"+calls+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "fuzz", "FUZZTIME=1x")
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "MAKEFLAGS=", "MAKELEVEL=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make fuzz: %v\n%s", err, out)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if m := played.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			got[m[2]+" "+m[1]] = true
		}
	}
	for _, target := range slices.Sorted(maps.Keys(want)) {
		if !got[target] {
			t.Errorf("make fuzz leaves out %s", target)
		}
	}
	for _, target := range slices.Sorted(maps.Keys(got)) {
		if !want[target] {
			t.Errorf("make fuzz plays %s, which is not there", target)
		}
	}
}
