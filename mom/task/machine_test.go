package task

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the pictures in DESIGN.md anew")

// A drawing is a table as pictures and checks see it.
type drawing struct {
	begin string
	moves []move[name]
}

type name string

func (n name) String() string { return string(n) }

func drawn[S machineState](begin S, t table[S]) drawing {
	d := drawing{begin: begin.String()}
	for _, m := range t {
		d.moves = append(d.moves, move[name]{name(m.from.String()), m.on, name(m.to.String())})
	}
	return d
}

var drawings = map[string]drawing{
	"program":                 drawn(ProgramStarting, programMoves),
	"trial":                   drawn(StepJoin, trialSteps),
	"life":                    drawn(Accepted, lives),
	"killing":                 drawn(NotKilled, kills),
	"sisters' parts":          drawn(PartsUnasked, sisterParts),
	"reports":                 drawn(NothingTold, reportings),
	"part":                    drawn(PartAccepted, sisterStages),
	"prologue":                drawn(PrologueUnasked, prologueMoves),
	"sister in an assignment": drawn(MemberInformed, memberships),
	"hold":                    drawn(NotHeld, holds),
	"snap":                    drawn(SnapIdle, snaps),
	"made":                    drawn(NoneMade, mades),
	"saved part":              drawn(PartUnasked, savedParts),
	"suspension":              drawn(Going, suspensions),
	"staging":                 drawn(FilesAway, stagings),
}

// states returns the states of a table, in their order.
func (d drawing) states() (all []name) {
	add := func(n name) {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	add(name(d.begin))
	for _, m := range d.moves {
		add(m.from)
	}
	for _, m := range d.moves {
		add(m.to)
	}
	return all
}

// mermaid draws a table; words that lead the same way share an arrow.
func (d drawing) mermaid() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	id := func(n name) string { return strings.ReplaceAll(string(n), " ", "_") }
	for _, s := range d.states() {
		if strings.Contains(string(s), " ") {
			fmt.Fprintf(&b, "    state %q as %s\n", string(s), id(s))
		}
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", id(name(d.begin)))
	var arrows []string
	words := make(map[string][]string)
	for _, m := range d.moves {
		arrow := id(m.from) + " --> " + id(m.to)
		if words[arrow] == nil {
			arrows = append(arrows, arrow)
		}
		words[arrow] = append(words[arrow], string(m.on))
	}
	for _, arrow := range arrows {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(words[arrow], ", "))
	}
	b.WriteString("```\n")
	return b.String()
}

// The pictures in DESIGN.md are those of the tables.
func TestPictures(t *testing.T) {
	const path = "../DESIGN.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for what, d := range drawings {
		mark := "<!-- picture: " + what + " -->\n"
		before, rest, found := strings.Cut(doc, mark)
		was, after, ended := strings.Cut(rest, "<!-- end -->")
		switch {
		case !found || !ended:
			t.Errorf("%s has no place for the picture of %s", path, what)
		case was != d.mermaid() && *update:
			doc = before + mark + d.mermaid() + "<!-- end -->" + after
		case was != d.mermaid():
			t.Errorf("the picture of %s in %s is not that of its table: draw it with -update\n%s", what, path, d.mermaid())
		}
	}
	if n := strings.Count(doc, "<!-- picture: "); n != len(drawings) {
		t.Errorf("%s has %d pictures, and there are %d machines", path, n, len(drawings))
	}
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A table says one thing of a word in a state, every state has a name, and is reached.
func TestTables(t *testing.T) {
	for what, d := range drawings {
		seen := make(map[string]bool)
		for _, m := range d.moves {
			key := fmt.Sprint(m.from, ", ", m.on)
			if seen[key] {
				t.Errorf("%s: two moves at %s", what, key)
			}
			seen[key] = true
		}
		reached := []name{name(d.begin)}
		for i := 0; i < len(reached); i++ {
			for _, m := range d.moves {
				if m.from == reached[i] && !slices.Contains(reached, m.to) {
					reached = append(reached, m.to)
				}
			}
		}
		for _, s := range d.states() {
			if !slices.Contains(reached, s) || strings.HasPrefix(string(s), "state ") {
				t.Errorf("%s: %s is never reached, or has no name", what, s)
			}
		}
	}
}

// Whoever decides on a deed finds somebody who does it.
func TestDeeds(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || fmt.Sprint(spec.Type) != "Deed" {
				return true
			}
			n++
			if what, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value); err != nil || deeds[Deed(what)] == nil {
				t.Errorf("nobody does %q, %v", what, err)
			}
			return true
		})
	}
	if n != len(deeds) {
		t.Errorf("%d deeds are named, and %d can be done", n, len(deeds))
	}
}
