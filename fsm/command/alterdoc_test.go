package command

import (
	"os"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/resource"
)

// The document of jobs has the attributes that may be altered while a job runs as the code has them.
func TestAlterable_DocumentIsCurrent(t *testing.T) {
	const (
		path  = "../../docs/jobs.md"
		begin = "<!-- printed by: go test ./fsm/command -update -->\n"
		end   = "<!-- end of what is printed -->\n"
	)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	want := before + begin + "\n" + alterableTable() + "\n" + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not current: go test ./fsm/command -update", path)
	}
}

// alterableTable prints what alterableWhileRunning allows qalter and bmod.
func alterableTable() string {
	options := map[string]string{"Resource_List": "-l"}
	for _, letter := range []byte(attr.OptionLetters()) {
		if o, _ := attr.OptionOf(letter); o.Alter {
			options[o.Attribute] = "-" + string(letter)
		}
	}
	who := map[attr.Perm]string{attr.User: "owner", attr.Operator: "operator", attr.Manager: "manager"}
	var out strings.Builder
	out.WriteString("| attribute | option of `qalter` | set by |\n| --- | --- | --- |\n")
	row := func(shown, name, by string) {
		option := options[name]
		if option == "" {
			option = "-W " + name
		}
		out.WriteString("| " + shown + " | `" + option + "` | " + by + " |\n")
	}
	for _, def := range attr.All(attr.Job) {
		if def.Type == attr.Resources {
			for _, r := range resource.Builtin() {
				e := attr.Entry{Name: def.Name, Resource: r.Name}
				switch {
				case alterableWhileRunning(false, e):
					row("`"+def.Name+"."+r.Name+"`", def.Name, "see below")
				case alterableWhileRunning(true, e):
					out.WriteString("| `" + def.Name + "." + r.Name + "` | `bmod` alone | see below |\n")
				}
			}
			continue
		}
		if alterableWhileRunning(false, attr.Entry{Name: def.Name}) {
			row("`"+def.Name+"`", def.Name, who[def.Write])
		}
	}
	return out.String()
}
