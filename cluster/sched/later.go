package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// ahead goes through the times at which something is given back, until what is free then, and stays so as long as is
// asked for, is enough. With certain, no soft_walltime counts, nor the end of runs without a walltime.
func (c *cycle) ahead(certain bool, enough fitness) bool {
	return c.aheadFrom(c.free, certain, nil, enough)
}

// aheadFrom is ahead of what is free now in a world, and looks at some other times, too, which are sorted.
func (c *cycle) aheadFrom(now *world, certain bool, also []pbs.Time, enough fitness) bool {
	f := c.future
	f.kept.timeline.follow(f, now)
	w := now.copyTo(f.kept.scratch)
	f.kept.scratch = w
	var dirty []int // hosts
	looked, last, gave := c.now, c.now, false
	look := func() bool {
		for _, h := range dirty {
			w.reset(h)
		}
		dirty, gave, looked = dirty[:0], false, last
		defer f.shrink(w, last)()
		return enough(w, last)
	}
	before := func(at pbs.Time) bool { // looks at what is before that
		for ; len(also) > 0 && also[0] < at; also = also[1:] {
			if gave && also[0] > last && also[0] >= looked+c.order.fuzzy && look() {
				return true
			}
			last, gave = max(last, also[0]), true
		}
		return gave && at != last && at >= looked+c.order.fuzzy && look()
	}
	for e := range f.coming(certain) {
		if before(e.at) {
			return true
		}
		last = e.at
		w.happen(e)
		c.endsAt(w, e)
		if h := w.nodes[e.node].host; len(dirty) == 0 || dirty[len(dirty)-1] != h {
			dirty = append(dirty, h)
		}
		gave = gave || !e.takes && e.kind != calendar.Fading // somebody starts at the end of a run
	}
	return before(calendar.Forever)
}

// endsAt counts no more what a run has that ends.
func (c *cycle) endsAt(w *world, e event) {
	if e.takes || !c.planner.slots.any() || !e.kind.Runs() {
		return
	}
	j, ok := c.view.Job(pbs.JobID(e.hold.By))
	if !ok {
		return
	}
	for _, it := range e.hold.Items {
		w.countOn(c.planner.boundsOf(j), w.nodes[e.node].host, it.Resource, -it.Amount)
	}
}

// happen does to a node what an event does.
func (w *world) happen(e event) {
	n := &w.nodes[e.node]
	h := &w.hosts[n.host]
	e.change(func(resource string, by int64) {
		if c := w.columns.of(resource); c != nil {
			c.add(int(e.node), by)
		}
	})
	switch {
	case !e.kind.Uses():
		return
	case e.takes:
		n.held, h.held = n.held+1, h.held+1
		n.usable, h.shut = n.usable && !e.alone, h.shut || e.host
		return
	case e.kind.Runs():
		n.jobs, h.jobs = max(0, n.jobs-1), max(0, h.jobs-1)
	default:
		n.held, h.held = max(0, n.held-1), max(0, h.held-1)
	}
	if e.alone {
		n.alone, n.usable = false, sound(n.vnode)
		h.shut = h.shut && !e.host
	}
}

// estimate finds the first time, not before since, at which the class fits for as long as a job of it runs. What others were promised is
// kept for them.
func (c *cycle) estimate(j *state.Job, cl *class, since pbs.Time) (top, bool) {
	if since <= c.now && c.oneHost(cl) && len(c.offers(j)) == 0 {
		return c.estimateBy(j, cl, since, func(enough fitness) bool { return c.aheadOnOne(cl, enough) })
	}
	return c.estimateBy(j, cl, since, func(enough fitness) bool { return c.aheadFrom(c.free, false, c.elsewhere(j), enough) })
}

// fitness reports whether what is free in a world at a time, and stays so, is enough.
type fitness func(w *world, at pbs.Time) bool

// estimateBy is estimate by what goes through the times to come.
func (c *cycle) estimateBy(j *state.Job, cl *class, since pbs.Time, ahead func(fitness) bool) (top, bool) {
	var t top
	rows := c.planner.rows
	long, likely, short := rows.walltime(j), rows.expected(j), rows.least(j)
	offers := c.offers(j)
	fits := func(w *world, at pbs.Time) bool {
		if at < since {
			return false
		}
		start, ok := c.hours.opens(j, at, short)
		if !ok {
			return false
		}
		until := spanFrom(start, likely, long)
		if !c.hasWhole(offers, wholeWindow(start, until)) {
			return false
		}
		placed, ok := w.findWithin(cl, c.future.windowAt(at, until))
		if ok {
			t = top{j, start, until, placed}
		}
		return ok
	}
	switch start, ok := c.hours.opens(j, c.now, short); {
	case !ok:
		return t, false
	case start > c.now && fits(c.free, c.now):
		return t, true
	}
	found := ahead(fits)
	return t, found
}

// windowAt returns the window of a job for which there is room at a time to come, from then on.
func (f *future) windowAt(at pbs.Time, until span) *window {
	return &window{future: f, from: at, span: until, likely: true}
}

// promise keeps for a top job what it is to have.
func (c *cycle) promise(t top) {
	c.future.add(holdOf(calendar.Top, t.job, t.start, t.until), t.placed, t.job.Placement())
	c.keepWhole(t)
	c.future.starts = noted(c.future.starts, t.start)
	c.future.touch(c.free, t.placed.Vnodes())
}

// openFor makes sure that what suspended jobs want back is counted before anything is placed.
func (c *cycle) openFor(all []stopped) {
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

// left holds what a calendar had of a run that is taken to be gone.
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
				rest := &calendar.Hold{From: h.From, Until: h.Until, Expected: h.Expected, Kind: calendar.Suspended, By: h.By}
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
	f.lefts, f.own = nil, nil
}
