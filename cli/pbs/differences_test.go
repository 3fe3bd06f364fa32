package pbs

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"rampart/cli"
)

// The page that a site reads before it moves names each option that a user's command knows and does not support, and no others.
func TestDifferences(t *testing.T) {
	text, err := os.ReadFile("../../docs/pbs-differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Options that are not taken\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && slices.ContainsFunc(Commands(), func(c *cli.Command) bool { return c.Name == strings.Trim(cells[1], " `") }) {
			for option := range strings.SplitSeq(cells[2], ",") {
				named[strings.Trim(cells[1], " `")+" "+strings.Trim(option, " `")] = true
			}
		}
	}
	if !strings.Contains(section, "| `pbs_server` |") {
		t.Fatal("the page has no such list")
	}
	refused := map[string]bool{}
	for _, c := range Commands() {
		flags, valued := letters(c.Grammar)
		for _, letter := range slices.Concat(flags, valued) {
			said := new(bytes.Buffer)
			env := world(newServer(t), map[string]string{"PBS_CONF_FILE": "pbs.conf"}, strings.NewReader("sleep 1\n"), io.Discard, said)
			args := []string{c.Name, "-" + letter}
			if slices.Contains(valued, letter) {
				args = append(args, "1")
			}
			if cli.Main(t.Context(), env, args, Commands()); strings.Contains(said.String(), "upport") && strings.Contains(said.String(), "-"+letter) {
				refused[c.Name+" -"+letter] = true
			}
		}
	}
	if !maps.Equal(refused, named) {
		t.Errorf("refused are %v, docs/pbs-differences.md says %v", refused, named)
	}
}
