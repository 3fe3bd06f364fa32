package sched

import (
	"maps"
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/state"
)

// ShareTree returns the tree of fair share from the root down, what is below a node behind it:
// groups and users in the order of resource_group, who is unknown last, by name. It is the same
// with fair_share off: then it says what would hold.
func ShareTree(v *state.View) []state.ShareNode {
	t := sharesOf(v)
	root := t.node(attr.RootShares, "")
	root.ID, root.Group, root.Shares = 0, -1, -1
	below := map[string][]state.ShareNode{}
	for _, l := range attr.ShareLines(v.Server().SchedGet("resource_group")) {
		n := t.node(l.Name, l.Parent)
		n.ID = l.ID
		below[l.Parent] = append(below[l.Parent], n)
	}
	unknown := t.node(attr.UnknownShares, attr.RootShares)
	unknown.ID = attr.UnknownID
	below[attr.RootShares] = append(below[attr.RootShares], unknown)
	for _, name := range slices.Sorted(maps.Keys(t.byName)) {
		if t.byName[name].parent == t.unknown {
			n := t.node(name, attr.UnknownShares)
			n.ID = -1
			below[attr.UnknownShares] = append(below[attr.UnknownShares], n)
		}
	}
	var all []state.ShareNode
	var add func(n state.ShareNode)
	add = func(n state.ShareNode) {
		all = append(all, n)
		for _, child := range below[n.Name] {
			child.Group = n.ID
			add(child)
		}
	}
	add(root)
	return all
}

func (t *shares) node(name, parent string) state.ShareNode {
	e := t.byName[name]
	return state.ShareNode{
		Name: name, Parent: parent, Shares: e.shares, Usage: e.usage / 1000, Part: e.percentage(), TreeUsage: t.treeUsage(e),
	}
}
