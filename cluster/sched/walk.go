package sched

import "rampart/fsm/pbs"

// A walk is what is free at the ends of runs, if nothing is kept. It goes on where it has come to, or back: a search for the first end
// at which there is enough begins with the first one.
type walk struct {
	now     *world
	of      *reserving // of the cycle
	age     int        // of the real world that it began with
	columns int        // that one had
	stops   []stop
	given   []undone
}

// A stop is an end of runs.
type stop struct {
	at    pbs.Time
	next  int // the first end that comes later
	given int // how much was given back until then
}

// undone holds what a run has given back of a node, and how that was before.
type undone struct {
	run           *finish
	of            int // of what the run gives back
	bounds        *bounds
	jobs, onHost  int
	alone, usable bool
	shut          bool
}

// begin brings a walk to before the first end, or to that.
func (k *walk) begin(r *reserving, real *world) {
	if k.of != r || k.age != r.age || k.columns != len(real.columns) || real.ranks != nil {
		k.now, k.of, k.age, k.columns = real.copyTo(k.now), r, r.age, len(real.columns)
		k.stops, k.given = k.stops[:0], k.given[:0]
		return
	}
	k.now.columns = k.now.columns[:k.columns] // others are of somebody's conditions, and not as of the first end
	if len(k.stops) > 1 {
		k.back(k.stops[0].given)
		k.stops = k.stops[:1]
	}
}

// to brings it to the nth end; false: there is none.
func (k *walk) to(c *cycle, n int) (pbs.Time, bool) {
	ends := c.finishes()
	for len(k.stops) <= n {
		next := 0
		if last := len(k.stops) - 1; last >= 0 {
			next = k.stops[last].next
		}
		first, ok := ends.at(next, c.now)
		if !ok || first.end == foreverMore {
			return 0, false
		}
		for d := first; ok && d.end == first.end; d, ok = ends.at(next, c.now) {
			k.release(c, d.finish)
			next++
		}
		k.stops = append(k.stops, stop{first.end, next, len(k.given)})
	}
	return k.stops[n].at, true
}

// release has a run end.
func (k *walk) release(c *cycle, f *finish) {
	w, exclusive, b := k.now, f.exclusive, f.bounds
	if !f.begun {
		b = c.planner.boundsOf(f.job)
		for _, l := range f.of {
			exclusive = exclusive || l.alone
		}
	}
	for i, l := range f.of {
		n := &w.nodes[l.node]
		h := &w.hosts[n.host]
		k.given = append(k.given, undone{f, i, b, n.jobs, h.jobs, n.alone, n.usable, h.shut})
		w.give(&l, 1)
		if i == 0 || f.of[i-1].node != l.node {
			n.jobs, h.jobs = max(0, n.jobs-1), max(0, h.jobs-1)
		}
		if exclusive {
			n.alone, n.usable, h.shut = false, idleEnough(n.vnode), false
		}
		w.countLeaving(b, &l, -1)
	}
	w.resetOf(f)
}

// back has runs go on that had ended, the last ones first, until so much is given back.
func (k *walk) back(until int) {
	w := k.now
	for i := len(k.given) - 1; i >= until; i-- {
		g := &k.given[i]
		l := &g.run.of[g.of]
		n := &w.nodes[l.node]
		h := &w.hosts[n.host]
		w.give(l, -1)
		n.jobs, h.jobs, n.alone, n.usable, h.shut = g.jobs, g.onHost, g.alone, g.usable, g.shut
		w.countLeaving(g.bounds, l, 1)
		if g.of == 0 {
			w.resetOf(g.run)
		}
	}
	k.given = k.given[:until]
}

// give adds what a run leaves to what is free of a node, or takes it back.
func (w *world) give(l *giving, sign int64) {
	for _, a := range l.amounts {
		if col := w.columns.of(a.name); col != nil {
			col.add(int(l.node), sign*a.amount)
		}
	}
}

// countLeaving counts what a run leaves for the limits of its slots.
func (w *world) countLeaving(b *bounds, l *giving, sign int64) {
	if b == nil || w.slots.of == nil {
		return
	}
	for _, c := range b.all {
		for _, a := range l.amounts {
			if a.name == c.def.Name {
				w.countIn(c, w.nodes[l.node].host, sign*a.amount)
			}
		}
	}
}

// resetOf counts again what the hosts of a run have free.
func (w *world) resetOf(f *finish) {
	done := -1
	for _, l := range f.of {
		if h := w.nodes[l.node].host; h != done {
			done = h
			w.reset(h)
		}
	}
}

// instants goes through the ends of runs, with what they leave free then, until that will do.
func (c *cycle) instants(enough func(at pbs.Time, now *world) bool) {
	r := c.reserving
	if c.shifts() {
		c.aheadFrom(r.realWorld(c), true, nil, func(now *world, at pbs.Time) bool {
			return at < foreverMore && enough(at, now)
		})
		return
	}
	c.finishes()
	k := &c.planner.walk
	k.begin(r, r.realWorld(c))
	for n := 0; ; n++ {
		if at, ok := k.to(c, n); !ok || enough(at, k.now) {
			return
		}
	}
}
