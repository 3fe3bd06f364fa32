package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
)

// A class that has all of its chunks on one host waits until something is given back there: what happens elsewhere is nothing to it.
// So the times to come are gone through without the vnodes: what the class asks for is counted, and a host is made what it will be only
// when it was given something back and may have enough.

// counted says how much nodes have of what a class asks for at a time to come.
type counted struct {
	names []string
	usual []int // their places among usualResources; -1: they are others
	needs []int64
	free  [][]int64 // by need, then by node
	gave  []int     // hosts that were given something back at that time
	was   hostState // of the host that is looked at

	shared bool // hosts have several vnodes
}

// oneHost reports whether a class has all of its chunks on one host, and whether nothing counts there but what begins and ends on
// that host.
func (c *cycle) oneHost(cl *class) bool {
	return (cl.place.Arrangement == spec.Pack || !cl.several) && len(cl.groups.defs) == 0 && cl.where == nil && cl.by == nil && cl.bounds == nil &&
		c.free.ranks == nil && !c.planner.slots.any() && !c.future.pooled && !c.view.Fades() && c.order.fuzzy == 0 && c.hours.always()
}

// aheadOnOne is ahead for a class that has all on one host. Its walk is the same, but that of the hosts only those are looked at that
// may have become enough.
func (c *cycle) aheadOnOne(cl *class, enough fitness) bool {
	f := c.future
	f.kept.timeline.follow(f, c.free)
	n := f.kept.counted.begin(c.free, cl)
	if p := c.peaksFor(n); p != nil {
		return c.aheadByPeaks(p, n, enough)
	}
	first, gave, last := true, false, c.now
	look := func() bool {
		if first {
			first, n.gave = false, n.gave[:0]
			for h := range c.free.hosts {
				n.gave = append(n.gave, h)
			}
		}
		n.gave = slices.DeleteFunc(n.gave, func(h int) bool { return !n.mayHave(&c.free.hosts[h]) })
		slices.Sort(n.gave)
		for _, h := range slices.Compact(n.gave) {
			if c.onOneAt(h, last, enough) {
				return true
			}
		}
		n.gave, gave = n.gave[:0], false
		return false
	}
	for e := range f.coming(false) {
		if gave && e.at != last && look() {
			return true
		}
		last = e.at
		n.happen(&e)
		if e.takes {
			continue
		}
		if gave = true; n.shared || n.has(e.node) {
			n.gave = append(n.gave, int(e.on))
		}
	}
	return gave && look()
}

// begin counts what there is now.
func (n *counted) begin(w *world, cl *class) *counted {
	n.names, n.usual, n.needs, n.gave = n.names[:0], n.usual[:0], n.needs[:0], n.gave[:0]
	for k, s := range cl.sums {
		n.names, n.usual, n.needs = append(n.names, s.def.Name), append(n.usual, slices.Index(usualResources[:], s.def.Name)), append(n.needs, s.amount)
		if len(n.free) == k {
			n.free = append(n.free, nil)
		}
		n.free[k] = append(n.free[k][:0], w.column(s.def).free...)
	}
	n.shared = len(w.hosts) < len(w.nodes)
	return n
}

// has reports whether a node has enough of everything.
func (n *counted) has(node int32) bool {
	for k, need := range n.needs {
		if max(0, n.free[k][node]) < need {
			return false
		}
	}
	return true
}

// happen counts what an event gives or takes.
func (n *counted) happen(e *event) {
	if e.more {
		e.change(func(resource string, by int64) {
			if k := slices.Index(n.names, resource); k >= 0 {
				n.free[k][e.node] += by
			}
		})
		return
	}
	for k, usual := range n.usual {
		switch {
		case usual < 0:
		case e.takes:
			n.free[k][e.node] -= e.usual[usual]
		default:
			n.free[k][e.node] += e.usual[usual]
		}
	}
}

// mayHave reports whether a host may have enough of everything: it does if all of its vnodes take jobs, and nothing else begins.
func (n *counted) mayHave(h *host) bool {
	for k, need := range n.needs {
		var sum int64
		for _, i := range h.nodes {
			sum = plus(sum, max(0, n.free[k][i]))
		}
		if sum < need {
			return false
		}
	}
	return true
}

// onOneAt reports whether a host is enough for a class as it will be at a time.
func (c *cycle) onOneAt(h int, at pbs.Time, enough fitness) (ok bool) {
	w, f := c.free, c.future
	watch, nodes := w.watch, w.hosts[h].nodes
	was := &f.kept.counted.was
	was.host, was.nodes, was.free = w.hosts[h], was.nodes[:0], was.free[:0]
	for _, i := range nodes {
		was.nodes = append(was.nodes, w.nodes[i])
		for _, col := range w.columns {
			was.free = append(was.free, col.free[i])
		}
	}
	w.watch, w.lone = nil, h+1 // nobody sees what it will be
	for _, i := range nodes {
		f.comingOn(int32(i), at, w.happen)
	}
	w.reset(h)
	ok = enough(w, at)
	free := was.free
	for k, i := range nodes {
		w.nodes[i] = was.nodes[k]
		for _, col := range w.columns {
			col.free[i], free = free[0], free[1:]
		}
	}
	w.hosts[h] = was.host
	w.reset(h)
	w.watch, w.lone = watch, 0
	return ok
}

// hostState holds the state of a host and its nodes.
type hostState struct {
	host  host
	nodes []node
	free  []int64 // by node, then by column
}

// comingOn does what begins and ends on a node until a time, that included, in its order.
func (f *future) comingOn(node int32, until pbs.Time, happen func(event)) {
	t := &f.kept.timeline
	events := t.vnodes[node].events
	if t.apart[node] {
		events = slices.DeleteFunc(slices.Clone(f.own), func(e event) bool { return e.node != node })
	}
	for _, e := range events {
		if e.at <= until && e.when&likely != 0 {
			happen(e)
		}
	}
}
