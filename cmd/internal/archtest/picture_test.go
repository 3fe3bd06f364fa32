package archtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the picture of the table into docs/architecture.md")

const (
	document     = "../../../docs/architecture.md"
	pictureBegin = "<!-- drawn from cmd/internal/archtest/table.go: go test ./cmd/internal/archtest -update -->\n"
	pictureEnd   = "<!-- end of what is drawn -->\n"
)

// The document of the architecture shows the table as it is.
func TestDocumentDrawsTheTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), pictureBegin)
	shown, after, ends := strings.Cut(rest, pictureEnd)
	if !begins || !ends {
		t.Fatalf("docs/architecture.md has no place for the picture of the table between\n%s%s", pictureBegin, pictureEnd)
	}
	want := picture() + legend()
	if *update {
		if err := os.WriteFile(document, []byte(before+pictureBegin+want+pictureEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Error("docs/architecture.md does not show the table as it is: go test ./cmd/internal/archtest -update")
	}
}

// An arrow leads from a package to one that it may import. A folder, with all below it, is a box.
type arrow struct{ from, to string }

// picture draws the arrows that follow from no others, as Mermaid does. What may import anything has no arrows.
func picture() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	var folder string
	for _, p := range drawn() {
		if top(p) != folder {
			if folder != "" {
				b.WriteString("  end\n")
			}
			folder = top(p)
			fmt.Fprintf(&b, "  subgraph %s\n", folder)
		}
		fmt.Fprintf(&b, "    %s[%q]\n", node(p), p)
	}
	b.WriteString("  end\n")
	for _, a := range reduced(arrows(), within()) {
		fmt.Fprintf(&b, "  %s --> %s\n", node(a.from), node(a.to))
	}
	b.WriteString("```\n\n")
	return b.String()
}

// legend is the table in full, with the reasons.
func legend() string {
	var b strings.Builder
	b.WriteString("| package | may import of this module | reason |\n| --- | --- | --- |\n")
	for _, r := range Rules {
		may := "nothing"
		if r.May != "" {
			may = "`" + strings.Join(strings.Fields(r.May), "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Package, may, r.Why)
	}
	return b.String()
}

func node(p string) string {
	if folder, ok := strings.CutSuffix(p, boxed); ok {
		return folder
	}
	return "p_" + strings.NewReplacer("/", "_", "*", "all").Replace(p)
}

// drawn lists the packages of the table by folder; the boxes of who may import anything are left out.
func drawn() []string {
	var all []string
	for _, r := range Rules {
		if r.May != "*" {
			all = append(all, r.Package)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(top(a), top(b)) })
	return all
}

// arrows leads a pattern that covers a whole folder to the folder's box, and any other to each package that it covers.
func arrows() []arrow {
	var all []arrow
	nodes := drawn()
	for _, from := range nodes {
		rule, _ := ruleFor(from)
		for pattern := range strings.FieldsSeq(rule.May) {
			if folder, whole := strings.CutSuffix(pattern, "/*"); whole && folder != top(from) && slices.ContainsFunc(nodes, func(n string) bool { return top(n) == folder }) {
				all = append(all, arrow{from, folder + boxed})
				continue
			}
			for _, to := range nodes {
				if to != from && match(pattern, strings.TrimSuffix(to, "/*")) {
					all = append(all, arrow{from, to})
				}
			}
		}
	}
	return all
}

// boxed marks the box of a folder, which is no package.
const boxed = "/..."

func top(p string) string {
	folder, _, _ := strings.Cut(p, "/")
	return folder
}

// within leads from the box of each folder to the packages in it.
func within() []arrow {
	var all []arrow
	for _, p := range drawn() {
		all = append(all, arrow{top(p) + boxed, p})
	}
	return all
}

// reduced leaves out each arrow whose ends are joined by others, or by ways that are not drawn.
func reduced(all, known []arrow) []arrow {
	next := map[string][]string{}
	for _, a := range slices.Concat(all, known) {
		next[a.from] = append(next[a.from], a.to)
	}
	return slices.DeleteFunc(slices.Clone(all), func(a arrow) bool {
		seen := map[string]bool{a.from: true}
		var leads func(from string) bool
		leads = func(from string) bool {
			for _, to := range next[from] {
				if from == a.from && to == a.to || seen[to] {
					continue
				}
				seen[to] = true
				if to == a.to || leads(to) {
					return true
				}
			}
			return false
		}
		return leads(a.from)
	})
}

// A picture without its longer ways is still the whole truth about who reaches whom.
func TestReduced(t *testing.T) {
	all := []arrow{{"a", "b"}, {"b", "c"}, {"a", "c"}, {"a", "d"}, {"b", "e"}}
	if got, want := reduced(all, []arrow{{"c", "e"}}), []arrow{{"a", "b"}, {"b", "c"}, {"a", "d"}}; !slices.Equal(got, want) {
		t.Errorf("reduced %v, want %v", got, want)
	}
}
