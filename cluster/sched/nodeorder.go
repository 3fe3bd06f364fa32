package sched

import (
	"cmp"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// nodeOrder is node_sort_key: in which order vnodes are filled.
type nodeOrder struct {
	text string
	keys []attr.SortKey
	defs []resource.Def // by key; the zero Def: it is no resource
}

func nodeOrderOf(v *state.View, text string) nodeOrder {
	o := nodeOrder{text: text}
	for _, k := range attr.SortKeys(o.text) {
		def, _ := v.Resource(k.Name)
		o.keys, o.defs = append(o.keys, k), append(o.defs, def)
	}
	return o
}

// rank returns where a vnode stands: lists that are less come first.
func (o *nodeOrder) rank(vn *state.Vnode, idle bool) []int64 {
	if len(o.keys) == 0 {
		return nil
	}
	rank := make([]int64, len(o.keys))
	for i, k := range o.keys {
		n := o.value(i, vn, idle)
		if !k.Low {
			n = -n
		}
		rank[i] = n
	}
	return rank
}

func (o *nodeOrder) value(i int, vn *state.Vnode, idle bool) int64 {
	if o.keys[i].Name == "sort_priority" {
		n, _ := strconv.ParseInt(vn.Get("Priority"), 10, 64)
		return n
	}
	def := o.defs[i]
	total := offered(def, vn.Available())
	if o.keys[i].Amount == "" || o.keys[i].Amount == "total" || idle {
		return total
	}
	assigned := taken(def, vn)
	if o.keys[i].Amount == "unused" {
		return total - assigned
	}
	return assigned
}

// sorted returns the vnodes of a view in their order.
func (o *nodeOrder) sorted(v *state.View, idle bool) []*state.Vnode {
	type ranked struct {
		vnode *state.Vnode
		rank  []int64
	}
	var all []ranked
	for vn := range v.Vnodes() {
		if !idle || vn.Flags&state.VnodeStale == 0 {
			all = append(all, ranked{vn, o.rank(vn, idle)})
		}
	}
	if len(o.keys) > 0 {
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

// stays tells whether a vnode that was changed keeps its place.
func (o *nodeOrder) stays(old, vn *state.Vnode, idle bool) bool {
	return slices.Equal(o.rank(old, idle), o.rank(vn, idle))
}
