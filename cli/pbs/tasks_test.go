package pbs

import (
	"slices"
	"testing"

	"rampart/cli"
)

// Nodes of pbsdsh begin again past the end, for -n as for -c.
func TestNodesFor(t *testing.T) {
	for _, c := range []struct {
		args  []string
		count int
		want  []int
		ok    bool
	}{
		{[]string{"-n", "1", "x"}, 2, []int{1}, true},
		{[]string{"-n", "5", "x"}, 2, []int{1}, true},
		{[]string{"-n", "-1", "x"}, 2, nil, false},
		{[]string{"-c", "3", "x"}, 2, []int{0, 1, 0}, true},
		{[]string{"x"}, 2, []int{0, 1}, true},
	} {
		opts := cli.OptionsOf(pbsdsh().Grammar.Parse(c.args))
		if nodes, ok := nodesFor(opts, c.count); ok != c.ok || ok && !slices.Equal(nodes, c.want) {
			t.Errorf("%q of %d: %v, %v", c.args, c.count, nodes, ok)
		}
	}
}
