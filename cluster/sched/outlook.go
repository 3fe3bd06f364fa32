package sched

import (
	"iter"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// An Outlook answers what is to come on vnodes, and when and where one job fits, as a cycle sees it: beside what runs until
// its walltime, what reservations have and are to have, and what top jobs were promised. It belongs to one view, and starts
// nothing. One goroutine uses it.
type Outlook struct {
	planner *Planner
	view    *state.View
	now     pbs.Time
	hours   *hours
}

func newOutlook(v *state.View, now pbs.Time, loads *Loads) *Outlook {
	v = v.At(now, nil)
	p := NewPlanner()
	p.loads = loads
	p.prepare(v, now)
	return &Outlook{planner: p, view: v, now: now, hours: p.hours}
}

// A Fit is a time at which a job fits for its whole length, and where.
type Fit struct {
	Start     pbs.Time
	ExecVnode spec.ExecVnode
}

// Without returns the first time at which a job that waits fits for its whole length, without harm to what is promised to others, if a
// running job, or a reservation, ended now; false: there is none that can be known.
func (o *Outlook) Without(j *state.Job, by string) (Fit, bool) {
	c, cl := o.cycle(j)
	if run, ok := o.view.Job(pbs.JobID(by)); ok {
		c.end(run)
	}
	if r, ok := o.view.Reservation(pbs.ReservationID(by)); ok {
		c.cancel(r)
	}
	for _, l := range c.offers(j) {
		c.whole(l.Queue).Take(func(h *calendar.Hold) bool { return h.By == by })
	}
	return c.fit(j, cl)
}

// cycle begins one in which all that is promised is in the calendar, but for what the job was promised that is asked about.
func (o *Outlook) cycle(about *state.Job) (*cycle, *class) {
	var cl *class
	if about != nil {
		place, _ := about.Resources.Get("place")
		cl = o.planner.classFor(about, o.planner.class(o.view, &state.Class{Select: about.SchedSelect, Place: place, Queue: about.Queue, More: about.More()}))
	}
	c := o.planner.begin(o.view, o.now)
	for j, placed := range o.tops() {
		if about == nil || j.ID != about.ID {
			at := j.EstimatedStart()
			until := spanFrom(at, o.planner.rows.expected(j), o.planner.rows.walltime(j))
			c.keepRoom(top{j, at, until, placed})
		}
	}
	c.keepAll(about)
	return c, cl
}

// keepAll takes what is kept for jobs that wait, as they have been told, out of what others may have: all but the one that is asked about.
func (c *cycle) keepAll(about *state.Job) {
	gone := func(k state.Kept) bool {
		_, there := c.free.byVnode[k.Vnode]
		return !there // it is another scheduler's by now
	}
	for j := range c.view.Pendings() {
		if len(j.Pending.Held) == 0 || slices.ContainsFunc(j.Pending.Held, gone) || about != nil && j.ID == about.ID {
			continue
		}
		place, _ := j.Resources.Get("place")
		cl := c.planner.classFor(j, c.planner.class(c.view, &state.Class{Select: j.SchedSelect, Place: place, Queue: j.Queue, More: j.More()}))
		est := j.EstimatedStart()
		c.keeps(c.reserving.waiter(j), cl, j.Pending.Held, est)
	}
}

// tops yields the top jobs with the vnodes that they were promised; those of an array are of the subjob that is to start next.
func (o *Outlook) tops() iter.Seq2[*state.Job, spec.ExecVnode] {
	return func(yield func(*state.Job, spec.ExecVnode) bool) {
		if !o.planner.order.strict && o.planner.order.starve == 0 {
			return
		}
		for j := range o.view.Jobs() {
			if !j.Startable() || !j.IsTop() { // what was foretold of one that is none any more stays, and is kept by nobody
				continue
			}
			text, _ := j.Attrs.Get("estimated", "exec_vnode")
			placed, err := spec.ParseExecVnode(text)
			if text == "" || err != nil || j.EstimatedStart() <= o.now {
				continue
			}
			if !yield(j, placed) {
				return
			}
		}
	}
}

// fit finds the first time at which a job fits.
func (c *cycle) fit(j *state.Job, cl *class) (Fit, bool) {
	if cl.bad != "" {
		return Fit{}, false
	}
	now := c.future.end(j, c.planner.rows.walltime(j))
	if start, ok := c.hours.opens(j, c.now, c.planner.rows.least(j)); ok && start == c.now && c.hasWhole(c.offers(j), wholeWindow(c.now, now)) {
		if placed, ok := c.free.findWithin(cl, &window{future: c.future, from: c.now, span: now}); ok {
			return Fit{c.now, placed}, true
		}
	}
	t, ok := c.estimate(j, cl, c.now)
	return Fit{t.start, t.placed}, ok
}

// end takes a run out of the world and of the calendar. One in a reservation leaves its part to that.
func (c *cycle) end(j *state.Job) {
	if !j.Live() || c.inside(j.Queue) != nil {
		return
	}
	left := leaving(c.view.LeftByEnd(j))
	defer c.free.owe(left.placed)()
	if j.Suspended() { // it uses nothing of the vnodes themselves
		c.free.change(left.placed, 1)
		c.free.recount(left.placed)
		return
	}
	c.free.release(left)
	c.future.leave(j.ID, left.placed)
}

// cancel takes a reservation out of the world and of the calendar, and its jobs with it.
func (c *cycle) cancel(r *state.Reservation) {
	c.future.drop(r, r.Assignments)
	if !r.Started() {
		return
	}
	for _, name := range reservedNodes(r) {
		i, ok := c.free.byVnode[name]
		if !ok {
			continue
		}
		n := &c.free.nodes[i]
		share, has := n.vnode.ReservedFor(r.ID)
		if !has {
			continue
		}
		items := share.Items
		if more, err := resource.Add(items, share.Beyond(share.Used), c.view); err == nil {
			items = more
		}
		inside := map[string]bool{} // its jobs
		for _, held := range n.vnode.Jobs {
			inside[string(held.Job)] = held.Reservation == r.ID
		}
		c.future.changing(n.vnode).Take(func(h *calendar.Hold) bool { return inside[h.By] })
		placed := spec.ExecVnode{{Parts: []spec.ExecPart{{Vnode: name, Items: items}}}}
		settled := c.free.owe(placed)
		c.free.change(placed, 1)
		settled()
		n.held, c.free.hosts[n.host].held = max(0, n.held-1), max(0, c.free.hosts[n.host].held-1)
		if share.Exclusive {
			n.alone, n.usable, c.free.hosts[n.host].shut = false, sound(n.vnode), false
		}
		c.free.recount(placed)
	}
}

// owe lets vnodes have less than nothing free on which more is held than they have, such as those of a reservation that has
// begun beside a run that is not over in time. The function that it returns is called when something was given back.
func (w *world) owe(placed spec.ExecVnode) (settled func()) {
	each := func(do func(c *column, at int)) {
		for _, c := range w.columns {
			done := map[int]bool{}
			for _, name := range placed.Vnodes() {
				if i, ok := w.byVnode[name]; ok && c.at(i) >= 0 && !done[c.at(i)] {
					done[c.at(i)] = true
					do(c, c.at(i))
				}
			}
		}
	}
	each(func(c *column, at int) {
		vn := w.nodes[at].vnode
		c.add(at, min(0, c.total[at]-taken(c.def, vn)-charged(c.def, vn.Lent)))
	})
	return func() {
		each(func(c *column, at int) { c.add(at, max(0, -c.free[at])) })
		w.recount(placed)
	}
}
