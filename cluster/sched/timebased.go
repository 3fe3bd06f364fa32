package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A planned job was given a time at which it is to start, and vnodes of that time (specification: reservation section 6.5).
type planned struct {
	of     *waiter
	start  pbs.Time
	alloc  map[int]amounts // by node; never ends
	shadow *shade          // what runs leave free at that time; plans for one time may have one
	alone  bool
	bounds *bounds // of its slots
}

// amounts holds what is kept of a vnode.
type amounts struct{ slots, mem int64 }

// A shade holds the free slots and memory of the vnodes, and nothing else of a world: that is all that plans by time need.
type shade struct{ slots, mem column }

// shadeOf returns the shade of what is free at a time. If what is to come counts too (ahead), it differs between plans.
func (r *reserving) shadeOf(w *world, at pbs.Time, ahead bool) *shade {
	if s := r.shades[at]; s != nil && !ahead {
		return s
	}
	only := func(c *column) column {
		return column{def: c.def, free: slices.Clone(c.free), pools: c.pools}
	}
	s := &shade{only(w.column(r.ncpus)), only(w.column(r.mem))}
	r.shades[at] = s
	return s
}

func (s *shade) left(i int) amounts { return amounts{s.slots.left(i), s.mem.left(i)} }

// take lowers what is free by what was placed.
func (s *shade) take(w *world, placed spec.ExecVnode) {
	for _, ch := range placed {
		for _, part := range ch.Parts {
			if i, ok := w.byVnode[part.Vnode]; ok {
				s.slots.add(i, -charged(s.slots.def, part.Items))
				s.mem.add(i, -charged(s.mem.def, part.Items))
			}
		}
	}
}

// slimKey is a class, and what of its needs is planned.
type slimKey struct {
	of     *class
	memory bool
}

// slimmed returns the class of what is planned of a job: its slots, and memory where that is kept with them.
func (r *reserving) slimmed(cl *class, m mode) *class {
	k := slimKey{cl, m.memory}
	if s := r.slim[k]; s != nil {
		return s
	}
	s := &class{key: cl.key, place: cl.place, groups: cl.groups, several: cl.several, spans: cl.spans, spanAge: cl.spanAge, bounds: cl.bounds, where: cl.where, by: cl.by, unit: cl.unit, units: cl.units, agree: cl.agree}
	for _, ch := range cl.chunks {
		other := func(n need) bool { return !r.keepable(n, m) }
		ch.needs, ch.again = slices.DeleteFunc(slices.Clone(ch.needs), other), slices.DeleteFunc(slices.Clone(ch.again), other)
		s.chunks = append(s.chunks, ch)
		s.add(ch)
	}
	r.slim[k] = s
	return s
}

// planFor gives a job the first end of a run at which it can have all of its slots together, beside the jobs that were planned before
// it. False: there is none.
func (c *cycle) planFor(w *waiter, cl *class, m mode) bool {
	r := c.reserving
	slim := r.slimmed(cl, m)
	until := func(j *state.Job, at pbs.Time) pbs.Time {
		long, known := c.runtime(j)
		if !known {
			return foreverMore
		}
		return at + long
	}
	found := false
	ahead := c.shifts()
	fits := func(j *state.Job, at pbs.Time, now *world) bool {
		end := until(j, at)
		taken := r.holds(now, at, end, end < foreverMore && c.backfills(j.Queue))
		now.lower(r, taken, -1)
		r.countPlans(now, 1)
		var win *window
		if ahead {
			win = &window{future: c.future, from: at, span: span{end, end}}
		}
		placed, ok := now.findWithin(slim, win)
		now.lower(r, taken, 1)
		r.countPlans(now, -1)
		if !ok {
			return false
		}
		found = true
		c.promisePlan(w, cl, m, wholeSecond(at), placed, now)
		return true
	}
	rows := c.planner.rows
	c.instants(func(at pbs.Time, now *world) bool {
		if !rows.scales(w.job) {
			return fits(w.job, at, now)
		}
		for as := range rows.paced(w.job) {
			if fits(as, at, now) {
				return true
			}
		}
		return false
	})
	if !found {
		r.unready[lot{cl, w.job.Queue}] = until(w.job, 0)
	}
	return found
}

// holds returns what a job may not have of vnodes that it would use from a time until another, since jobs planned before it are to have
// that: from their starts on what they were given, and before, unless it is over by then and may backfill, what there is of that.
func (r *reserving) holds(now *world, from, until pbs.Time, backfills bool) map[int]amounts {
	if len(r.plans) == 0 {
		return nil
	}
	room := map[int]amounts{}
	free := func(i int) amounts {
		return amounts{now.columns.of(r.ncpus.Name).left(i), now.columns.of(r.mem.Name).left(i)}
	}
	at := func(has func(i int) amounts, x pbs.Time) {
		left := map[int]amounts{}
		for _, p := range r.plans {
			for i, a := range p.alloc {
				free, met := left[i]
				if !met {
					free = has(i)
				}
				switch {
				case x >= p.start:
				case backfills && until <= p.start:
					a = amounts{}
				default:
					a = amounts{min(a.slots, max(0, free.slots)), min(a.mem, max(0, free.mem))}
				}
				left[i] = amounts{free.slots - a.slots, free.mem - a.mem}
			}
		}
		for i, l := range left {
			if least, met := room[i]; met {
				l = amounts{min(l.slots, least.slots), min(l.mem, least.mem)}
			}
			room[i] = l
		}
	}
	at(free, from)
	for _, p := range r.plans {
		if p.start > from && p.start < until {
			at(p.shadow.left, p.start)
		}
	}
	taken := map[int]amounts{}
	for i, l := range room {
		has := free(i)
		taken[i] = amounts{max(0, has.slots-max(0, l.slots)), max(0, has.mem-max(0, l.mem))}
	}
	return taken
}

// lower takes amounts of nodes, or gives them back.
func (w *world) lower(r *reserving, of map[int]amounts, sign int64) {
	for i, a := range of {
		w.columns.of(r.ncpus.Name).add(i, sign*a.slots)
		w.columns.of(r.mem.Name).add(i, sign*a.mem)
	}
	for i := range of {
		w.reset(w.nodes[i].host)
	}
}

// countPlans counts the slots of the jobs that were planned, or does so no more.
func (r *reserving) countPlans(w *world, sign int64) {
	for _, p := range r.plans {
		if p.bounds == nil {
			continue
		}
		for i, a := range p.alloc {
			w.countOn(p.bounds, w.nodes[i].host, r.ncpus.Name, sign*a.slots)
			w.countOn(p.bounds, w.nodes[i].host, r.mem.Name, sign*a.mem)
		}
	}
}

// promisePlan keeps for a job what is free now of what it is to have.
func (c *cycle) promisePlan(w *waiter, cl *class, m mode, at pbs.Time, placed spec.ExecVnode, then *world) {
	r := c.reserving
	p := &planned{of: w, start: at, alloc: map[int]amounts{}, shadow: r.shadeOf(then, at, c.shifts()), alone: c.free.isExclusive(placed, cl), bounds: cl.bounds}
	var parts []state.Kept
	var order []int
	for _, ch := range placed {
		for _, part := range ch.Parts {
			i, ok := c.free.byVnode[part.Vnode]
			if !ok {
				continue
			}
			if _, met := p.alloc[i]; !met {
				order = append(order, i)
			}
			a := p.alloc[i]
			a.slots, a.mem = a.slots+charged(r.ncpus, part.Items), a.mem+charged(r.mem, part.Items)
			p.alloc[i] = a
		}
	}
	ncpus, mem := c.free.column(r.ncpus), c.free.column(r.mem)
	c.free.attempt()
	for _, i := range order {
		n := &c.free.nodes[i]
		if !n.usable || c.free.hosts[n.host].shut {
			continue
		}
		allowed, _ := c.free.allowed(n.host, cl.bounds)
		k := state.Kept{Vnode: n.vnode.Name, Slots: min(p.alloc[i].slots, max(0, ncpus.left(i)), max(0, allowed))}
		c.free.takesOn(n.host, cl.bounds, k.Slots)
		if m.memory {
			allowed, _ := c.free.allowedOf(n.host, cl.bounds, r.mem.Name)
			k.Mem = min(p.alloc[i].mem, max(0, mem.left(i)), max(0, allowed))
			k.Mem -= k.Mem % megabyte
			c.free.takesOf(n.host, cl.bounds, r.mem.Name, k.Mem)
		}
		if k.Slots > 0 {
			parts = append(parts, k)
		}
	}
	r.plans = append(r.plans, p)
	w.where = placed.String()
	c.keeps(w, cl, parts, at)
}
