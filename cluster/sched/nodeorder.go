package sched

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// nodeOrder is node_sort_key, after what smp_cluster_dist puts before it: in which order vnodes are filled.
type nodeOrder struct {
	text  string
	keys  []attr.SortKey
	defs  []resource.Def // by key; the zero Def: it is no resource
	moves bool           // each job that starts may change it
}

// byJobs is the key of smp_cluster_dist=round_robin: vnodes with fewer jobs come first. No resource has such a name.
const byJobs = "(jobs)"

// vnodesBy returns the keys of a cycle by which vnodes are sorted.
func vnodesBy(set settings) string {
	keys := set.get("node_sort_key")
	switch set.get("smp_cluster_dist") {
	case "round_robin":
		keys = byJobs + " LOW," + keys
	case "lowest_load": // that which jobs were given: what they make of it comes too late for the next ones
		keys = "ncpus LOW assigned," + keys
	}
	return strings.TrimSuffix(keys, ",")
}

func nodeOrderOf(v *state.View, text string) nodeOrder {
	o := nodeOrder{text: text}
	for _, k := range attr.SortKeys(o.text) {
		def, _ := v.Resource(k.Name)
		o.keys, o.defs = append(o.keys, k), append(o.defs, def)
		o.moves = o.moves || k.Name == byJobs || k.Amount == "unused" || k.Amount == "assigned"
	}
	return o
}

// rank returns where a vnode stands: lists that are less come first. It counts all that vnodes have, and nothing that runs.
func (o *nodeOrder) rank(vn *state.Vnode) []int64 {
	return o.ranked(func(i int) int64 {
		if o.keys[i].Name == byJobs {
			return 0
		}
		return offered(o.defs[i], vn.Available())
	}, vn)
}

// rankNow returns where a node of the world stands as it is used.
func (o *nodeOrder) rankNow(w *world, node int) []int64 {
	n := &w.nodes[node]
	return o.ranked(func(i int) int64 {
		def := o.defs[i]
		switch {
		case o.keys[i].Name == byJobs:
			return int64(n.jobs)
		case def.Name == "":
			return 0
		case o.keys[i].Amount == "unused":
			return w.column(def).free[node]
		case o.keys[i].Amount == "assigned":
			c := w.column(def)
			return c.total[node] - c.free[node]
		}
		return offered(def, n.offer)
	}, n.vnode)
}

func (o *nodeOrder) ranked(value func(key int) int64, vn *state.Vnode) []int64 {
	if len(o.keys) == 0 {
		return nil
	}
	rank := make([]int64, len(o.keys))
	for i, k := range o.keys {
		var n int64
		if k.Name == "sort_priority" {
			n, _ = strconv.ParseInt(vn.Get("Priority"), 10, 64)
		} else {
			n = value(i)
		}
		if !k.Low {
			n = -n
		}
		rank[i] = n
	}
	return rank
}

// created reports whether the nodes of a world stand in the order of their creation: an order that
// moves is kept beside them.
func (o *nodeOrder) created(idle bool) bool { return len(o.keys) == 0 || o.moves && !idle }

// sorted returns the vnodes of a view in their order.
func (o *nodeOrder) sorted(v *state.View, idle bool) []*state.Vnode {
	type ranked struct {
		vnode *state.Vnode
		rank  []int64
	}
	var all []ranked
	for vn := range v.Vnodes() {
		if !idle || vn.Flags&state.VnodeStale == 0 {
			all = append(all, ranked{vnode: vn})
		}
	}
	if !o.created(idle) {
		for i := range all {
			all[i].rank = o.rank(all[i].vnode)
		}
		slices.SortStableFunc(all, func(a, b ranked) int {
			return cmp.Or(slices.Compare(a.rank, b.rank), cmp.Compare(a.vnode.Seq, b.vnode.Seq))
		})
	}
	out := make([]*state.Vnode, len(all))
	for i, r := range all {
		out[i] = r.vnode
	}
	return out
}

// stays reports whether a vnode that was changed keeps its place.
func (o *nodeOrder) stays(old, vn *state.Vnode, idle bool) bool {
	return o.created(idle) || slices.Equal(o.rank(old), o.rank(vn))
}
