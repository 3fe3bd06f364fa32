package pbs

import (
	"os/exec"
	"strings"
	"testing"
)

// TestManual_EveryOption: the manual has every command with each of its options, and nothing else.
func TestManual_EveryOption(t *testing.T) {
	commands := strings.Count(manual, "\n= ")
	for _, c := range Commands() {
		_, options, ok := manualOf(c.Name)
		if !ok {
			t.Errorf("%s is not in the manual", c.Name)
			continue
		}
		commands--
		said := map[string]bool{}
		for _, o := range options {
			name, _, _ := strings.Cut(strings.TrimLeft(o, "-"), "\t")
			name, _, _ = strings.Cut(name, " ")
			said[name] = true
		}
		for _, name := range c.OptionNames() {
			if name != "server" && !said[name] {
				t.Errorf("%s: -%s is not in the manual", c.Name, name)
			}
			delete(said, name)
		}
		for name := range said {
			t.Errorf("%s has no option -%s", c.Name, name)
		}
	}
	if commands != 0 {
		t.Errorf("the manual has %d commands that there are not", commands)
	}
}

// TestManual_Pages: a program that sets manual pages finds nothing wrong in them.
func TestManual_Pages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	for _, p := range Pages() {
		if !strings.HasPrefix(p.Text, ".TH ") || !strings.Contains(p.Text, "\n.SH SYNOPSIS\n") {
			t.Errorf("%s:\n%s", p.File, p.Text)
		}
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8")
		cmd.Stdin = strings.NewReader(p.Text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", p.File, err, out)
		}
	}
}
