package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// An event is the beginning or the end of a hold.
type event struct {
	at    pbs.Time
	takes bool
	vnode pbs.VnodeName
	hold  *calendar.Hold
}

// foresee notes when a hold begins, if that is still to come, and when it ends.
func (f *future) foresee(vnode pbs.VnodeName, h *calendar.Hold) {
	if h.From > f.now {
		f.events = append(f.events, event{h.From, true, vnode, h})
	}
	switch {
	case h.Until < calendar.Forever:
		f.events = append(f.events, event{h.Until, false, vnode, h})
	case h.Kind.Runs():
		f.events = append(f.events, event{f.now + unending, false, vnode, h})
	}
	f.sorted = false
}

// events is a heap: what happens next comes first. Most who look ahead find soon what they look for, and of all that is
// to come only that is put into its order.
type events []event

// before tells which event comes first: who gives back makes room for who takes.
func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && !e.takes && o.takes }

// down moves the event at a place behind those that come before it.
func (e events) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(e); child++ {
			if e[child].before(&e[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		e[i], e[first] = e[first], e[i]
		i = first
	}
}

// pop takes out what happens next.
func (e *events) pop() event {
	first, last := (*e)[0], len(*e)-1
	(*e)[0] = (*e)[last]
	*e = (*e)[:last]
	e.down(0)
	return first
}

// lookAhead reads what is to come of all vnodes.
func (f *future) lookAhead() {
	if f.events == nil {
		f.events, f.shrinking = f.kept.events[:0], nil
		for vn := range f.view.Vnodes() {
			for _, h := range f.of(vn, true).Holds() {
				f.foresee(vn.Name, h)
				if h.Left != nil {
					f.shrinking = append(f.shrinking, shrinking{vn.Name, h})
				}
			}
		}
	}
	if !f.sorted {
		f.sorted = true
		for i := len(f.events)/2 - 1; i >= 0; i-- {
			f.events.down(i)
		}
	}
	f.kept.events = f.events
}

// ahead goes through the times at which something is given back, until what is free then, and stays so as long as is
// asked for, is enough. Who asks for ever does not count on the end of runs without a walltime.
func (c *cycle) ahead(forever bool, enough func(w *world, at pbs.Time) bool) bool {
	return c.aheadFrom(c.free, forever, enough)
}

// aheadFrom is ahead of what is free now in a world.
func (c *cycle) aheadFrom(now *world, forever bool, enough func(w *world, at pbs.Time) bool) bool {
	f := c.future
	f.lookAhead()
	w := now.copyTo(f.scratch)
	f.scratch = w
	dirty := map[int]bool{}
	looked, gave := c.now, false
	f.coming = append(f.coming[:0], f.events...)
	for len(f.coming) > 0 {
		e := f.coming.pop()
		if e.takes || !forever || e.hold.Until < calendar.Forever {
			if at, ok := w.byVnode[e.vnode]; ok {
				w.happen(at, e)
				c.endsAt(w, at, e)
				dirty[w.nodes[at].host] = true
			}
			gave = gave || !e.takes && e.hold.Kind != calendar.Fading // somebody starts at the end of a run
		}
		if len(f.coming) > 0 && (f.coming[0].at == e.at || f.coming[0].at < looked+c.order.fuzzy) || !gave {
			continue
		}
		for h := range dirty {
			w.reset(h)
		}
		clear(dirty)
		gave, looked = false, e.at
		again := f.shrink(w, e.at)
		done := enough(w, e.at)
		again()
		if done {
			return true
		}
	}
	return false
}

// endsAt counts no more the slots of a run that ends.
func (c *cycle) endsAt(w *world, i int, e event) {
	if e.takes || !c.planner.slots.any() || !e.hold.Kind.Runs() {
		return
	}
	j, ok := c.view.Job(pbs.JobID(e.hold.By))
	if !ok {
		return
	}
	for _, it := range e.hold.Items {
		if it.Resource == "ncpus" {
			w.countOn(c.planner.boundsOf(j), w.nodes[i].host, -it.Amount)
		}
	}
}

// happen does to a node what an event does.
func (w *world) happen(i int, e event) {
	n := &w.nodes[i]
	h := &w.hosts[n.host]
	sign := int64(1)
	if e.takes {
		sign = -1
	}
	for _, it := range e.hold.Items {
		if c, ok := w.columns[it.Resource]; ok {
			c.add(i, sign*it.Amount)
		}
	}
	switch {
	case !e.hold.Kind.Uses():
		return
	case e.takes:
		n.held, h.held = n.held+1, h.held+1
		n.usable, h.shut = n.usable && !e.hold.Alone, h.shut || e.hold.Host
		return
	case e.hold.Kind.Runs():
		n.jobs, h.jobs = max(0, n.jobs-1), max(0, h.jobs-1)
	default:
		n.held, h.held = max(0, n.held-1), max(0, h.held-1)
	}
	if e.hold.Alone {
		n.alone, n.usable = false, sound(n.vnode)
		h.shut = h.shut && !e.hold.Host
	}
}

// estimateAhead is estimate where there are reservations: what they are to have is kept for them.
func (c *cycle) estimateAhead(j *state.Job, cl *class, since pbs.Time) (top, bool) {
	var t top
	long := walltime(j)
	return t, c.ahead(false, func(w *world, at pbs.Time) bool {
		if at < since {
			return false
		}
		placed, ok := w.findWithin(cl, c.future.windowAt(at, long))
		if ok {
			t = top{j, at, run{at + long, placed, w.isExclusive(placed, cl), cl.bounds}, nil}
		}
		return ok
	})
}

// windowAt returns the window of a job that starts at a time.
func (f *future) windowAt(at, long pbs.Time) *window {
	until := calendar.Forever
	if long < unending {
		until = at + long
	}
	return &window{future: f, from: at, until: until}
}

// promise keeps for a top job what it is to have.
func (c *cycle) promise(t top) {
	until := calendar.Forever
	if t.run.end-t.start < unending {
		until = t.run.end
	}
	c.future.add(calendar.Hold{From: t.start, Until: until, Kind: calendar.Top, By: string(t.job.ID)}, t.run.placed, t.job.Placement())
	c.future.note(t.start)
	c.future.touch(c.free, t.run.placed.Vnodes())
}

// resumeAhead is resumeLater where there are reservations.
func (c *cycle) resumeAhead(j *state.Job, placed spec.ExecVnode, left pbs.Time) {
	c.ahead(false, func(w *world, at pbs.Time) (ok bool) {
		if !w.hasWithin(placed, c.future.windowAt(at, left)) {
			return false
		}
		c.keepRoom(top{j, at, run{at + left, placed, false, nil}, nil})
		return true
	})
}

// openFor makes sure that what suspended jobs want back is counted before anything is placed.
func (c *cycle) openFor(all []stopped) {
	if c.future == nil {
		return
	}
	for _, s := range all {
		gone, err := c.view.LeftBySuspension(s.job)
		if err != nil {
			continue
		}
		for _, l := range gone {
			for _, it := range l.Items {
				if def, ok := c.view.Resource(it.Name); ok && def.AtVnodes() {
					c.free.column(def)
				}
			}
		}
	}
}

// hasWithin tells whether all of an assignment is free in a window.
func (w *world) hasWithin(placed spec.ExecVnode, win *window) (ok bool) {
	w.within(win, func() {
		for h := range w.on(placed) {
			w.look(h)
		}
		ok = w.has(placed)
	})
	return ok
}

// left is what a calendar had of a run that is taken to be gone.
type left struct {
	of   *foreseen
	was  *calendar.Hold
	rest *calendar.Hold // what it keeps
}

// leave takes what a run leaves of vnodes out of the calendar.
func (f *future) leave(job pbs.JobID, placed spec.ExecVnode) {
	if f == nil {
		return
	}
	for _, ch := range placed {
		for _, part := range ch.Parts {
			vn, ok := f.view.Vnode(part.Vnode)
			if !ok {
				continue
			}
			s := f.changing(vn)
			gone := f.amounts(vn, vn, part.Items)
			for _, h := range s.Take(func(h *calendar.Hold) bool {
				return (h.Kind.Runs() || h.Kind == calendar.Fading) && h.By == string(job)
			}) {
				rest := &calendar.Hold{From: h.From, Until: h.Until, Kind: calendar.Suspended, By: h.By}
				for _, it := range h.Items {
					if i := slices.IndexFunc(gone, func(g calendar.Amount) bool { return g.Resource == it.Resource }); i >= 0 {
						it.Amount -= gone[i].Amount
					}
					rest.Items = append(rest.Items, it)
				}
				s.Add(rest)
				f.lefts = append(f.lefts, left{s, h, rest})
			}
		}
	}
}

// back puts into the calendar what was taken out by leave.
func (f *future) back() {
	if f == nil {
		return
	}
	for _, l := range f.lefts {
		l.of.Take(func(h *calendar.Hold) bool { return h == l.rest })
		l.of.Add(l.was)
	}
	f.lefts = nil
}
