package state

import "testing"

func TestNodesOfAll(t *testing.T) {
	for want, list := range map[string][]string{
		"":                     {"", ""},
		"1#(a){0}":             {"(a)"},
		"5#(a){0-1,4}(b){2-3}": {"(a)", "(a)", "(b)", "(b)", "(a)"},
		"3#(a){0,2}":           {"(a)", "", "(a)"},
	} {
		var all []Occurrence
		for _, nodes := range list {
			all = append(all, Occurrence{Nodes: nodesOf(nodes)})
		}
		if got := nodesOfAll(all); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}
