package pbs

import (
	"strings"
	"testing"
)

// TestManual_EveryOption: the manual has every command with each of its options, and nothing else.
func TestManual_EveryOption(t *testing.T) {
	commands := strings.Count(manualText, "\n= ")
	for _, c := range Commands() {
		_, options, ok := manual.Of(c.Name)
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
