package dropin

import (
	"os"
	"strings"
	"testing"

	"rampart/fsm/attr"
)

// The page that a site reads before it moves names each option of PBS's daemons that is refused, and each word of
// sched_config that has no effect, and no others.
func TestDifferences(t *testing.T) {
	text, err := os.ReadFile("../../../docs/pbs-differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, options, _ := strings.Cut(string(text), "## Options that are not taken\n")
	options, _, _ = strings.Cut(options, "\n## ")
	named := map[string]bool{}
	for line := range strings.Lines(options) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for option := range strings.SplitSeq(cells[2], ",") {
			named[strings.Trim(cells[1], " `")+" "+strings.Trim(option, " `")] = true
		}
	}
	for name, p := range programs() {
		for _, letter := range strings.ReplaceAll(p.letters, ":", "") {
			option := name + " -" + string(letter)
			if refused := !strings.ContainsRune(p.knows+p.idle, letter); refused != named[option] {
				t.Errorf("%s is refused: %v; docs/pbs-differences.md says so: %v", option, refused, named[option])
			}
		}
	}
	_, taken, _ := strings.Cut(options, "without effect: ")
	taken, _, _ = strings.Cut(taken, "\n\n")
	for name, p := range programs() {
		want := ""
		for i, letter := range p.idle {
			if i > 0 {
				want += ", "
			}
			want += "`-" + string(letter) + "`"
		}
		if want != "" && !strings.Contains(taken, "`"+name+"` "+want) {
			t.Errorf("docs/pbs-differences.md does not say that %s takes %s without effect", name, want)
		}
	}
	_, words, _ := strings.Cut(string(text), "`sched_config`: these have no effect")
	words, _, _ = strings.Cut(words, "\n## ")
	idle := map[string]bool{}
	for line := range strings.Lines(words) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for name := range strings.SplitSeq(cells[1], ",") {
				idle[strings.Trim(name, " `")] = true
			}
		}
	}
	for name := range settings {
		_, honored := attr.Lookup(attr.Sched, name)
		honored = honored || former[name] != "" || name == "mom_resources" || name == "backfill"
		if idle[name] == honored {
			t.Errorf("%s of sched_config has an effect: %v; docs/pbs-differences.md says that it has none: %v", name, honored, idle[name])
		}
	}
}
