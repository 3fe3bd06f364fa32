package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// foreverMore is the end of a run of which nobody knows it.
const foreverMore = calendar.Forever

// A keep holds what is kept for a job that waits.
type keep struct {
	of     *waiter
	est    pbs.Time // when the job is to start; 0: nobody knows
	alone  bool     // it is to have vnodes for itself
	placed spec.ExecVnode
	bounds *bounds // of its slots
}

// placed returns what is kept as an assignment.
func (r *reserving) placed(parts []state.Kept) spec.ExecVnode {
	all := make(spec.ExecVnode, 0, len(parts))
	for _, k := range parts {
		part := spec.ExecPart{Vnode: k.Vnode, Items: resource.List{{Name: r.ncpus.Name, Value: text(r.ncpus, k.Slots)}}}
		if k.Mem > 0 {
			part.Items = append(part.Items, resource.Item{Name: r.mem.Name, Value: text(r.mem, k.Mem)})
		}
		all = append(all, spec.ExecChunk{Parts: []spec.ExecPart{part}})
	}
	return all
}

// withhold takes what is kept out of what is free.
func (c *cycle) withhold(k *keep) {
	c.free.occupy(k.placed, nil)
	c.free.countPlaced(k.bounds, k.placed, 1)
	c.moved(k.placed)
}

// lend gives it back for a while.
func (c *cycle) lend(k *keep) {
	c.free.release(run{placed: k.placed, bounds: k.bounds})
	c.moved(k.placed)
}

// moved brings up to date what depends on what is free.
func (c *cycle) moved(placed spec.ExecVnode) {
	if len(placed) == 0 {
		return
	}
	c.future.touch(c.free, placed.Vnodes())
}

// realWorld returns what is free if nothing is kept.
func (r *reserving) realWorld(c *cycle) *world {
	if r.real == nil {
		c.free.column(r.ncpus)
		c.free.column(r.mem)
		r.real = c.free.copyTo(nil)
	}
	return r.real
}

// took notes that a job that starts has vnodes.
func (c *cycle) took(j *state.Job, placed spec.ExecVnode, cl *class) {
	r := c.reserving
	if r.real != nil {
		r.real.occupy(placed, cl)
		r.age++
	}
	end := c.endsBy(j)
	if r.ends != nil {
		c.begins(j, placed, c.free.isExclusive(placed, cl), cl.bounds)
	}
	var taken []*shade
	for _, p := range r.plans {
		if end > p.start && !slices.Contains(taken, p.shadow) {
			p.shadow.take(c.free, placed)
			taken = append(taken, p.shadow)
		}
	}
	for _, g := range r.gates {
		r.closes(g, placed)
	}
	r.starts(j)
}

// closes takes what was placed out of a gate, but for slots, which are all free there.
func (r *reserving) closes(gate *world, placed spec.ExecVnode) {
	gate.change(placed, -1, r.ncpus.Name)
	gate.recount(placed)
}

// placeKept is placeBeside where jobs may keep something: a job that may backfill gets of it what it gives back before the owner of the keep is to
// start (specification: reservation section 6.6).
func (c *cycle) placeKept(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok, fits bool) {
	r := c.reserving
	if !r.failed[cl] {
		placed, ok, fits = c.placeBesideTops(j, cl, long)
		if ok {
			c.took(j, placed, cl)
		}
		if ok || fits || len(r.keeps) == 0 || !c.planner.rows.all() {
			return placed, ok, fits
		}
		r.failed[cl] = true
	}
	if roomy, known := r.roomy[cl]; known && !roomy {
		return nil, false, false
	}
	if c.planner.rows.all() {
		if _, r.roomy[cl] = r.real.fits(cl); !r.roomy[cl] {
			return nil, false, false
		}
	}
	if placed, ok = c.backfill(j, cl, long); ok {
		return placed, true, true
	}
	return nil, false, true
}

// backfill gives a job what is kept for others that start only when it is over.
func (c *cycle) backfill(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok bool) {
	r := c.reserving
	runs, known := c.runtime(j)
	if !known || !c.backfills(j.Queue) {
		return nil, false
	}
	if least, tried := r.short[cl]; tried && runs >= least && c.planner.rows.all() {
		return nil, false
	}
	lent := c.lendFor(runs)
	if len(lent) > 0 {
		placed, ok, _ = c.placeBesideTops(j, cl, long)
	}
	if ok {
		c.took(j, placed, cl)
	}
	for _, k := range lent {
		if ok {
			c.lessen(k)
		}
		c.withhold(k)
	}
	if !ok && c.planner.rows.all() {
		r.short[cl] = runs
	}
	return placed, ok
}

// lendFor gives back for a while what is kept for jobs that start only when one is over that runs for some time.
func (c *cycle) lendFor(runs pbs.Time) (lent []*keep) {
	end := wholeSecond(c.now) + runs
	for _, k := range c.reserving.keeps {
		if !k.alone && k.est != 0 && end <= k.est {
			lent = append(lent, k)
			c.lend(k)
		}
	}
	return lent
}

// lessen lowers what is kept to what is still there. No slot, no memory (specification: reservation section 5.4).
func (c *cycle) lessen(k *keep) {
	r := c.reserving
	var left []state.Kept
	for _, part := range k.of.next.Held {
		i := c.free.byVnode[part.Vnode]
		part.Slots = min(part.Slots, max(0, c.free.column(r.ncpus).left(i)))
		part.Mem = min(part.Mem, max(0, c.free.column(r.mem).left(i)))
		if part.Slots > 0 {
			left = append(left, part)
		}
	}
	c.future.unkeep(k)
	k.of.next.Held, k.placed = left, r.placed(left)
	c.foresees(k)
}

// foresees puts what is kept into the calendar, until its job is taken to end.
func (c *cycle) foresees(k *keep) {
	until := span{c.now + unending, calendar.Forever}
	if long, known := c.runtime(k.of.job); known && k.est != 0 {
		until = span{k.est + long, k.est + long}
	}
	h := holdOf(calendar.Kept, k.of.job, c.now, until)
	if was := k.of.was; was != nil && len(was.Held) > 0 {
		h.From = min(was.Since, c.now)
	}
	c.future.add(h, k.placed, spec.Place{})
}

// unkeep takes it out again.
func (f *future) unkeep(k *keep) {
	for _, name := range k.placed.Vnodes() {
		if vn, ok := f.view.Vnode(name); ok {
			f.changing(vn).Take(func(h *calendar.Hold) bool { return h.Kind == calendar.Kept && h.By == string(k.of.job.ID) })
		}
	}
}

// backfills reports whether jobs of a queue may use what others are to have later.
func (c *cycle) backfills(queue pbs.QueueName) bool {
	fills, known := c.fills[queue]
	if !known {
		q, ok := c.view.Queue(queue)
		fills = ok && q.Backfills()
		c.fills[queue] = fills
	}
	return fills
}

func (c *cycle) runtime(j *state.Job) (pbs.Time, bool) { return c.planner.rows.runtime(j) }

// runtime returns for how long a job is taken to run, false if nobody knows (specification: reservation section 6.2).
func (r *rows) runtime(j *state.Job) (pbs.Time, bool) {
	if long := r.walltime(j); long < unending {
		return long, true
	}
	if soft, ok := j.SoftSpan(0); ok {
		return soft, true
	}
	if text, ok := j.Resources.Get("cput"); ok {
		if q, err := resource.Parse(resource.Time, text); err == nil && q.Int() > 0 {
			return state.Span(q.Int()), true
		}
	}
	return 0, false
}

// blocked reports whether a class would fit but for what is kept for others, and why its jobs wait then.
func (c *cycle) blockedByKept(cl *class) (state.Wait, bool) {
	r := c.reserving
	if r == nil || !r.failed[cl] || !r.roomy[cl] {
		return state.Wait{}, false
	}
	why, known := r.whys[cl]
	if !known {
		why = c.why(cl).wait
		r.whys[cl] = why
	}
	return why, true
}

// allKeptFrom reports whether all jobs of a line wait because there is no room for them beside what is kept for others, and know it already.
func (c *cycle) allKeptFrom(l line) bool {
	r := c.reserving
	if r == nil || l.alone || l.class.lines > 1 || !r.failed[l.class] || c.backfills(l.of.Queue) || !c.onlyRoom() || !c.plain(l.of.Queue) {
		return false
	}
	why, kept := c.blockedByKept(l.class)
	return kept && (c.mute() || c.waiting >= c.exact && l.of.Wait == why.Kind())
}
