package dropin

import (
	"bytes"
	"testing"

	"rampart/fsm/state"
)

// The tree is written as the specification's recordings have it.
func TestPrintShares(t *testing.T) {
	root := state.ShareNode{Name: "root", Group: -1, Shares: -1, Part: 1}
	unknown := state.ShareNode{Name: "unknown", Parent: "root", ID: 1}
	used := []state.ShareNode{
		{Name: "root", Group: -1, Shares: -1, Part: 1, Usage: 400},
		{Name: "physics", Parent: "root", ID: 10, Shares: 60, Part: 0.6, Usage: 300},
		{Name: "ann", Parent: "physics", ID: 20, Group: 10, Shares: 1, Part: 0.6, Usage: 300, TreeUsage: 0.75},
		{Name: "bio", Parent: "root", ID: 11, Shares: 40, Part: 0.4},
		unknown,
	}
	for _, c := range []struct {
		name     string
		options  map[string]string
		operands []string
		nodes    []state.ShareNode
		want     string
	}{
		{"nobody", nil, nil, []state.ShareNode{root, unknown}, `Fairshare usage units are in: cput
TREEROOT  : Grp: -1     cgrp: 0    Shares: -1     Usage: 1      Perc: 100.000%
unknown   : Grp: 0      cgrp: 1    Shares: 0      Usage: 1      Perc:  0.000%
`},
		{"used", nil, nil, used, `Fairshare usage units are in: cput
TREEROOT  : Grp: -1     cgrp: 0    Shares: -1     Usage: 400    Perc: 100.000%
physics   : Grp: 0      cgrp: 10   Shares: 60     Usage: 300    Perc: 60.000%
ann       : Grp: 10     cgrp: 20   Shares: 1      Usage: 300    Perc: 60.000%
bio       : Grp: 0      cgrp: 11   Shares: 40     Usage: 1      Perc: 40.000%
unknown   : Grp: 0      cgrp: 1    Shares: 0      Usage: 1      Perc:  0.000%
`},
		{"tree", map[string]string{"t": ""}, nil, used, `TREEROOT(0)
     physics(10)
          ann(20)
     bio(11)
     unknown(1)
`},
		{"one", map[string]string{"g": "ann"}, nil, used, `fairshare entity: ann
Resgroup: 10
cresgroup: 20
Shares: 1
Percentage: 60.000000%
fairshare_tree_usage: 0.750000
usage: 300 (cput)
usage/perc: 500
Path from root:
TREEROOT  :     0        400 / 1.000 = 400
physics   :    10        300 / 0.600 = 500
ann       :    20        300 / 0.600 = 500
`},
		{"two", map[string]string{"c": "ann"}, []string{"bio"}, used, "bio\n"},
		{"two alike", map[string]string{"c": "ann"}, []string{"physics"}, used, "ann == physics\n"},
		{"one without a part", map[string]string{"c": "unknown"}, []string{"ann"}, used, "ann\n"},
	} {
		var out bytes.Buffer
		call := &call{world: World{Stdout: &out}, options: c.options, operands: c.operands}
		if err := printShares(call, "cput", c.nodes); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, out.String())
		}
	}
	call := &call{world: World{Stdout: new(bytes.Buffer)}, options: map[string]string{"g": "nosuch"}}
	if err := printShares(call, "cput", used); err == nil || err.Error() != "fairshare entity nosuch does not exist" {
		t.Errorf("an unknown one: %v", err)
	}
}
