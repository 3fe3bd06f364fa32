package sched

import (
	"fmt"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Counts are what a cycle counts as free, and who uses what, in the vnodes of a view.
type Counts struct {
	view  *state.View
	cycle *cycle
	free  *world
}

// comparedResources are the resources that are looked at.
var comparedResources = [...]string{"ncpus", "mem"}

// CountsOf returns what a planner's cycle begins with.
func CountsOf(p *Planner, v *state.View, now pbs.Time) *Counts {
	p.prepare(v, now)
	c := p.begin(v, now)
	for _, name := range comparedResources {
		def, _ := v.Resource(name)
		c.free.column(def)
	}
	return &Counts{v, c, c.free.copyTo(nil)}
}

// Lines tells of each vnode what is free, who uses it, and whether others may.
func (n *Counts) Lines() (all []string) {
	for i := range n.free.nodes {
		one := &n.free.nodes[i]
		h := &n.free.hosts[one.host]
		line := fmt.Sprintf("%s: usable %v, use %+v, shut %v", one.vnode.Name, one.usable, n.free.use(one), h.shut)
		for _, name := range comparedResources {
			c := n.free.columns.of(name)
			line += fmt.Sprintf(", %s %d of %d, %d at the host", c.def.Name, c.left(i), c.total[i], c.tree[c.size+one.host])
		}
		all = append(all, line)
	}
	return all
}

// A Margin is the most of a resource that fits, as a cycle counts, and the least that does not.
type Margin struct{ Fits, Over resource.List }

// Most yields the margins of each vnode.
func (n *Counts) Most(yield func(vn *state.Vnode, m Margin) bool) {
	for i := range n.free.nodes {
		for _, c := range n.free.columns {
			list := func(amount int64) resource.List {
				return resource.List{{Name: c.def.Name, Value: text(c.def, amount)}}
			}
			if !yield(n.free.nodes[i].vnode, Margin{list(c.left(i)), list(c.left(i) + 1)}) {
				return
			}
		}
	}
}

// End counts that a run is over.
func (n *Counts) End(j *state.Job) { n.free.release(leaving(n.view.LeftByEnd(j))) }

// Suspend counts that a run is suspended.
func (n *Counts) Suspend(j *state.Job) {
	left, _ := n.view.LeftBySuspending(j)
	n.free.release(leaving(left))
}

// Resume counts that a suspended run goes on, and reports whether it may, beside what others have and want.
func (n *Counts) Resume(j *state.Job) bool {
	gone, err := n.view.LeftBySuspension(j)
	if err != nil {
		return false
	}
	want := map[onColumn]int64{}
	for _, l := range gone {
		if !n.free.gives(n.free.byVnode[l.Vnode.Name], l, j.Placement(), want) {
			return false
		}
	}
	n.free.regive(gone, j.Placement())
	return true
}

// Start places a job that is queued, or takes what was placed elsewhere, and returns where it is: nowhere, an empty text.
func (n *Counts) Start(id pbs.JobID, elsewhere bool) string {
	for of := range n.view.Classes() {
		for j := range n.view.JobsOf(of) {
			if j.ID != id {
				continue
			}
			w, cl := n.free, n.cycle.planner.known(n.view, of)
			if elsewhere {
				w = w.copyTo(nil)
			}
			placed, ok := w.find(cl)
			switch {
			case !ok:
				return ""
			case elsewhere:
				n.free.occupy(placed, cl)
			default:
				n.free.settle(cl)
			}
			return placed.String()
		}
	}
	return ""
}
