package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	camelWord   = regexp.MustCompile(`^[A-Za-z][a-z0-9]*[A-Z]\w*$`)
	memberWord  = regexp.MustCompile(`^(\w+)\.([A-Za-z_]\w*)$`)
	goFile      = regexp.MustCompile(`^\w+\.go$`)
	wordOfText  = regexp.MustCompile(`\w+`)
	folderWord  = regexp.MustCompile(`^(\w+)(/\w+)+/?$`)
	quotedWords = regexp.MustCompile("`([^`\n]+)`")
)

// foreignNames are names of other modules that nothing here uses: documents say why.
var foreignNames = map[string]bool{"CleanupDeadServers": true, "ServerStabilizationTime": true, "StablePromoter": true}

// A document for those who change the code names functions, types, fields, files and folders that there are.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	s := readNames(t)
	named := 0
	for _, doc := range tracked(t, "CONTRIBUTING.md", "docs/architecture.md", "docs/design.md", "docs/laws.md", "*DESIGN.md") {
		for _, m := range quotedWords.FindAllStringSubmatch(withoutBlocks(read(t, doc)), -1) {
			known, isName := s.knows(filepath.Dir(doc), strings.TrimSuffix(m[1], "()"))
			if isName {
				named++
			}
			if !known {
				t.Errorf("%s names %s, which is gone", doc, m[1])
			}
		}
	}
	if named < 400 {
		t.Errorf("%d names were found: the documents were not read", named)
	}
}

func TestNames_Gone(t *testing.T) {
	s := names{words: map[string]bool{"EditRun": true}, owners: map[string]bool{"Job": true}, members: map[string]bool{"Job.EditRun": true}, files: []string{"fsm/state/run.go"}}
	for word, want := range map[string]bool{
		"EditRun": true, "EditJob": false, "Job.EditRun": true, "Job.EditJob": false, "raft.Raft": true, "run.go": true, "jog.go": false,
		"fsm/state": true, "fsm/stat": false, "state/": true, "testing/synctest": true, "qsub": true,
	} {
		if known, _ := s.knows("fsm", word); known != want {
			t.Errorf("%s: known: %v", word, known)
		}
	}
}

// names are what the source of the module declares and says.
type names struct {
	words   map[string]bool // identifiers, and words of texts
	owners  map[string]bool // packages and types
	members map[string]bool // of packages and types: OWNER.NAME
	files   []string
}

// knows reports whether a quoted word of a document in a folder names something that there is; what is no name is known.
func (s *names) knows(dir, word string) (known, isName bool) {
	switch m := memberWord.FindStringSubmatch(word); {
	case goFile.MatchString(word):
		return slices.ContainsFunc(s.files, func(f string) bool {
			return filepath.Base(f) == word && (dir == "." || strings.HasPrefix(f, dir+"/"))
		}), true
	case camelWord.MatchString(word):
		return s.words[word] || foreignNames[word], true
	case m != nil && s.owners[m[1]] && unicode.IsUpper(rune(m[2][0])): // else a file, or a word of a hook
		return s.members[word], true
	case folderWord.MatchString(word):
		return !slices.Contains([]string{"chaos", "cli", "cluster", "cmd", "docs", "fsm", "mom", "transport"}, strings.Split(word, "/")[0]) ||
			s.hasFolder(word) || s.hasFolder(dir+"/"+word), true
	}
	return true, false
}

func (s *names) hasFolder(path string) bool {
	path = strings.TrimSuffix(path, "/") + "/"
	return slices.ContainsFunc(s.files, func(f string) bool { return strings.HasPrefix(f, path) })
}

// withoutBlocks returns a document without its blocks of code.
func withoutBlocks(text string) string {
	var out strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(line, "    ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func readNames(t *testing.T) *names {
	t.Helper()
	s := &names{words: map[string]bool{}, owners: map[string]bool{}, members: map[string]bool{}, files: tracked(t, "*")}
	for _, path := range s.files {
		if !strings.HasSuffix(path, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s.declare(file)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				s.words[n.Name] = true
			case *ast.BasicLit:
				if n.Kind == token.STRING && path != "cmd/internal/archtest/names_test.go" { // which quotes what is gone
					for _, word := range wordOfText.FindAllString(n.Value, -1) {
						s.words[word] = true
					}
				}
			}
			return true
		})
	}
	return s
}

// declare notes the packages and types of a file, and what they have.
func (s *names) declare(file *ast.File) {
	pkg := file.Name.Name
	s.owners[pkg] = true
	add := func(owner, name string) { s.members[owner+"."+name] = true }
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			add(pkg, f.Name.Name)
			if f.Recv != nil {
				add(receiver(f.Recv.List[0].Type), f.Name.Name)
			}
			continue
		}
		for _, spec := range decl.(*ast.GenDecl).Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add(pkg, name.Name)
				}
			case *ast.TypeSpec:
				s.owners[spec.Name.Name] = true
				add(pkg, spec.Name.Name)
				for _, name := range fieldsOf(spec.Type) {
					add(spec.Name.Name, name)
				}
			}
		}
	}
}

// fieldsOf returns the names of the fields of a struct, or the methods of an interface.
func fieldsOf(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		if len(field.Names) == 0 {
			names = append(names, receiver(field.Type))
		}
	}
	return names
}
