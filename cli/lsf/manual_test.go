package lsf

import (
	"regexp"
	"strings"
	"testing"
)

// TestManual_EveryOption: the manual has every command with each of the options of its synopsis, and nothing else.
func TestManual_EveryOption(t *testing.T) {
	commands := strings.Count(manualText, "\n= ")
	option := regexp.MustCompile(`[\[ |]-([A-Za-z]+)`)
	for _, c := range Commands() {
		_, options, ok := manual.Of(c.Name)
		if !ok {
			t.Errorf("%s is not in the manual", c.Name)
			continue
		}
		commands--
		said := map[string]bool{"h": true, "V": true}
		for _, o := range options {
			name, _, _ := strings.Cut(strings.TrimPrefix(o, "-"), "\t")
			name, _, _ = strings.Cut(name, " ")
			said[name] = true
		}
		for _, m := range option.FindAllStringSubmatch(c.Usage, -1) {
			if _, known := said[m[1]]; !known {
				t.Errorf("%s: -%s is not in the manual", c.Name, m[1])
			}
			said[m[1]] = false
		}
		for name, unseen := range said {
			if unseen && name != "h" && name != "V" {
				t.Errorf("%s: -%s is not in the synopsis", c.Name, name)
			}
		}
	}
	if commands != 0 {
		t.Errorf("the manual has %d commands that there are not", commands)
	}
}
