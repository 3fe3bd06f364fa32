package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// isExclusive reports whether a job of the class has a vnode of those for itself.
func (w *world) isExclusive(placed spec.ExecVnode, c *class) bool {
	return slices.ContainsFunc(placed.Vnodes(), func(name pbs.VnodeName) bool {
		i, ok := w.byVnode[name]
		return ok && w.nodes[i].vnode.AloneFor(c.place)
	})
}

// occupy takes what was placed in another world; without a class it only counts.
func (w *world) occupy(placed spec.ExecVnode, c *class) {
	w.change(placed, -1)
	for _, name := range placed.Vnodes() {
		i, ok := w.byVnode[name]
		if !ok {
			continue
		}
		n := &w.nodes[i]
		n.jobs++
		w.hosts[n.host].jobs++
		if c == nil {
			continue
		}
		w.note(n, c)
		w.settleIn(n, c)
	}
	if c != nil {
		w.countPlaced(c.bounds, placed, 1)
	}
	w.recount(placed)
}

// release gives back what a run has that ends.
func (w *world) release(r run) {
	w.change(r.placed, 1)
	for _, name := range r.placed.Vnodes() {
		i, ok := w.byVnode[name]
		if !ok {
			continue
		}
		n := &w.nodes[i]
		n.jobs, w.hosts[n.host].jobs = max(0, n.jobs-1), max(0, w.hosts[n.host].jobs-1)
		if r.exclusive {
			n.alone, n.usable, w.hosts[n.host].shut = false, idleEnough(n.vnode), false
		}
	}
	w.countPlaced(r.bounds, r.placed, -1)
	w.recount(r.placed)
}

// change adds what was placed to what is free, or takes it away; of some resources it does neither.
func (w *world) change(placed spec.ExecVnode, by int64, beside ...string) {
	for _, ch := range placed {
		for _, p := range ch.Parts {
			if i, ok := w.byVnode[p.Vnode]; ok {
				w.count(i, p.Items, by, beside...)
			}
		}
	}
}

// count does for one vnode what change does for those of an assignment.
func (w *world) count(i int, items resource.List, by int64, beside ...string) {
	for _, it := range items {
		if col := w.columns.of(it.Name); col != nil && !slices.Contains(beside, it.Name) {
			col.add(i, by*charged(col.def, resource.List{it}))
		}
	}
}

func (w *world) recount(placed spec.ExecVnode) {
	done := -1
	for _, name := range placed.Vnodes() {
		i, ok := w.byVnode[name]
		if !ok || w.nodes[i].host == done {
			continue
		}
		done = w.nodes[i].host
		w.reset(done)
	}
}
