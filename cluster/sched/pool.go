package sched

import (
	"slices"

	"rampart/fsm/state"
)

// pools says which vnodes of a column share the amount of another one
// (resources_available.X=@VNODE).
type pools struct {
	source []int  // by node: the node whose amount it takes of; -1: there is none
	shared []bool // by node: others take of it
	hosts  []int  // that have a node which shares, or is shared
}

// pool finds out what is shared; the column has no pools when nothing is.
func (w *world) pool(c *column) {
	c.pools = nil
	if w.inside {
		return
	}
	for vn := range w.view.Sharers() {
		i, here := w.byVnode[vn.Name]
		if _, ok := vn.Indirect(c.def.Name); !ok || !here {
			continue
		}
		if c.pools == nil {
			c.pools = &pools{source: make([]int, len(w.nodes)), shared: make([]bool, len(w.nodes))}
			for n := range c.pools.source {
				c.pools.source[n] = n
			}
		}
		c.pools.source[i] = -1
		c.pools.hosts = append(c.pools.hosts, w.nodes[i].host)
		if target := w.view.Pool(vn, c.def.Name); target != nil {
			if at, ok := w.byVnode[target.Name]; ok {
				c.pools.source[i], c.pools.shared[at] = at, true
				c.pools.hosts = append(c.pools.hosts, w.nodes[at].host)
			}
		}
	}
	if c.pools != nil {
		slices.Sort(c.pools.hosts)
		c.pools.hosts = slices.Compact(c.pools.hosts)
	}
}

// at returns the node of whose amount node i takes, -1 if there is none.
func (c *column) at(i int) int {
	if c.pools == nil {
		return i
	}
	return c.pools.source[i]
}

// left returns what node i can give.
func (c *column) left(i int) int64 {
	if i = c.at(i); i < 0 {
		return 0
	}
	return c.free[i]
}

// add changes what node i can give, and with it all that share its amount.
func (c *column) add(i int, by int64) {
	if i = c.at(i); i < 0 {
		return
	}
	c.free[i] += by
	c.moved = c.moved || c.pools != nil && c.pools.shared[i]
}

// met reports whether a host's amount is counted already by another vnode that shares it.
func (c *column) met(i int, seen *[]int) bool {
	if c.pools == nil {
		return false
	}
	if i = c.at(i); i < 0 || !c.pools.shared[i] {
		return false
	}
	if slices.Contains(*seen, i) {
		return true
	}
	*seen = append(*seen, i)
	return false
}

// reset counts again what a host has free, and with it those that share what has changed.
func (w *world) reset(h int) {
	if w.watch != nil {
		w.changes++
		w.watch.note(h)
	}
	w.ranks.moved(h)
	for _, c := range w.columns {
		c.set(h, w.freeOn(h, c))
		if !c.moved {
			continue
		}
		c.moved = false
		for _, other := range c.pools.hosts {
			c.set(other, w.freeOn(other, c))
		}
	}
}

// sharesAnew reports whether a vnode shares otherwise than before.
func sharesAnew(old, vn *state.Vnode) bool {
	if slices.Equal(old.Reported, vn.Reported) && slices.Equal(old.Configured, vn.Configured) {
		return false
	}
	for _, pair := range [][2]*state.Vnode{{old, vn}, {vn, old}} {
		for _, it := range pair[0].Available() {
			one, ok := state.Target(it.Value)
			if other, too := pair[1].Indirect(it.Name); ok && (!too || one != other) {
				return true
			}
		}
	}
	return false
}
