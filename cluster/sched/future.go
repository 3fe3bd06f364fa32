package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A future holds what a cycle knows of times to come. The calendar of a vnode is read when it is first asked for, and kept for later cycles:
// see kept. Where nothing is promised no calendar is read.
type future struct {
	view   *state.View
	now    pbs.Time
	kept   *kept
	rows   *rows
	pooled bool            // vnodes share amounts of others
	begins []pbs.Time      // when reservations begin that do not have their vnodes yet, sorted
	starts []pbs.Time      // when top jobs are to start, sorted
	unread []promised      // what the cycle has given that is in no calendar yet, since none was asked for
	held   []pbs.VnodeName // of which somebody was given something in this cycle
	own    []event         // of the vnodes that the cycle has changed, in their order; nil: they were not needed since
	lefts  []left          // runs that are taken to be gone

	tooLong map[*class]conflict
	lasts   []*lasting // those that were used last come last
	used    *world     // of the last one

	shrinking []shrinking // holds of which less is held as time passes, once events were needed
}

// A conflict is why jobs of a class do not start that would last until a time, or longer.
type conflict struct {
	until span
	why   state.Wait
}

// newFuture returns what is known of times to come.
func newFuture(k *kept, v *state.View, now pbs.Time, rows *rows) *future {
	f := &future{view: v, now: now, kept: k, rows: rows}
	for range v.Sharers() {
		f.pooled = true
		break
	}
	if f.pooled || k.pooled { // calendars were read of other vnodes, too
		k.forget()
	}
	k.follow(v)
	k.pooled = f.pooled
	f.begins, f.tooLong = k.beginsFrom(now), k.conflicts()
	return f
}

// promises reports whether anything begins later.
func (f *future) promises() bool { return len(f.begins)+len(f.starts) > 0 }

// shifts reports whether what is free changes by more than starts and ends of jobs.
func (c *cycle) shifts() bool { return c.view.ReservationCount() > 0 || c.view.Fades() }

// begun reports whether the present occurrence of a reservation has its vnodes.
func begun(r *state.Reservation) bool { return r.Started() || r.Running() }

// note notes when a reservation begins.
func (f *future) note(at pbs.Time) { f.begins = noted(f.begins, at) }

// noted puts a time among sorted ones.
func noted(all []pbs.Time, at pbs.Time) []pbs.Time {
	if i, ok := slices.BinarySearch(all, at); !ok {
		return slices.Insert(all, i, at)
	}
	return all
}

// A span is until when a job has its vnodes: as far as is expected, for which top jobs look out, and at the latest, for which reservations do.
type span struct{ expected, last pbs.Time }

// spanFrom returns the span of a job from a time on.
func spanFrom(at, expected, long pbs.Time) span {
	s := span{at + min(expected, long, unending), calendar.Forever}
	if long < unending {
		s.last = at + long
	}
	return s
}

// end returns until when a job holds its vnodes that starts now and runs so long.
func (f *future) end(j *state.Job, long pbs.Time) span {
	return spanFrom(f.now, f.rows.expected(j), long)
}

// met counts the times at which something begins before a job is over.
type met struct {
	reservations int // at the latest
	sooner       int // those of them that begin before it is expected to be, where a top job does, too
	jobs         int // top jobs do before that
}

// before counts what begins before the end of a span. Jobs that meet the same have the same left for them.
func (f *future) before(s span) (m met) {
	m.reservations, _ = slices.BinarySearch(f.begins, s.last)
	if m.jobs, _ = slices.BinarySearch(f.starts, s.expected); m.jobs > 0 {
		m.sooner, _ = slices.BinarySearch(f.begins, s.expected)
	}
	return m
}

// beginning returns the times at which a reservation begins, or a top job starts, before the end of a span, sorted.
func (f *future) beginning(s span) []pbs.Time {
	m := f.before(s)
	all := slices.Concat(f.begins[:m.reservations], f.starts[:m.jobs])
	slices.Sort(all)
	return slices.Compact(all)
}

// of returns the calendar of a vnode, with its runs only where somebody is to get something of it, or if all is wanted.
func (f *future) of(vn *state.Vnode, all bool) *foreseen {
	f.settle()
	s := f.kept.vnodes[vn.Name]
	if s == nil || !s.holds(vn, f.now) {
		s = f.kept.anew(s, vn, f.now)
		f.read(s, vn, vn, false)
		f.shared(vn, func(other *state.Vnode) { f.read(s, vn, other, false) })
	}
	if !s.runs && (all || s.busy) {
		s.runs = true
		f.kept.reads++
		s.version = f.kept.reads
		f.kept.timeline.note(s.node)
		f.read(s, vn, vn, true)
		f.shared(vn, func(other *state.Vnode) { f.read(s, vn, other, true) })
	}
	return s
}

// at is of for a node of a world.
func (f *future) at(w *world, i int, all bool) *foreseen {
	f.settle()
	kind := 0
	if w.idle {
		kind = 1
	}
	known := &f.kept.byNode[kind]
	if len(*known) != len(w.nodes) {
		*known = make([]*foreseen, len(w.nodes))
	}
	vn := w.nodes[i].vnode
	if s := (*known)[i]; s != nil && s.holds(vn, f.now) && (s.runs || !all && !s.busy) {
		return s
	}
	s := f.of(vn, all)
	(*known)[i] = s
	return s
}

// shared goes through the vnodes that share amounts of another one.
func (f *future) shared(vn *state.Vnode, each func(*state.Vnode)) {
	if !f.pooled {
		return
	}
	for other := range f.view.Sharers() {
		if other.Name != vn.Name && slices.ContainsFunc(other.Available(), func(it resource.Item) bool {
			target := f.view.Pool(other, it.Name)
			return target != nil && target.Name == vn.Name
		}) {
			each(other)
		}
	}
}

// read puts into a calendar what is held of a vnode by runs, or by reservations.
func (f *future) read(s *foreseen, vn, from *state.Vnode, runs bool) {
	add := func(h *calendar.Hold, items resource.List, till pbs.Time) {
		h.Items = f.amounts(vn, from, items)
		if vn != from {
			if len(h.Items) == 0 {
				return
			}
			h.Kind, h.Alone, h.Host = calendar.Suspended, false, false // it uses the other vnode
		}
		s.busy, s.till = s.busy || !runs, min(s.till, till)
		s.Add(h)
	}
	if runs {
		for _, held := range from.Jobs {
			h, till := f.runOf(from, held)
			if held.Reservation != "" {
				if held.Items = f.beyond(from, held); len(held.Items) == 0 {
					continue
				}
				till = f.endInside(&h, held.Reservation, till)
			}
			parts, rest := f.fading(held, &h)
			for i := range parts {
				add(&parts[i].Hold, parts[i].items, min(parts[i].Until, till))
			}
			add(&h, rest, till)
			f.kept.notes(s, f.view, held.Job)
		}
		return
	}
	for _, res := range from.Reserved {
		if r, ok := f.view.Reservation(res.Reservation); !ok || !begun(r) || len(r.Occurrences) == 0 {
			add(&calendar.Hold{Until: f.now + overtime, Kind: calendar.Reservation, By: string(res.Reservation), Alone: res.Exclusive}, res.Items, f.now+1)
		}
	}
	for p := range f.view.PromisesOf(from.Name) {
		if h, till, ok := f.promise(from, p); ok {
			add(&h, p.Items, till)
		}
	}
}

// runOf returns the hold of a run, and from when on it is another one though nothing has changed.
func (f *future) runOf(vn *state.Vnode, held state.VnodeJob) (calendar.Hold, pbs.Time) {
	h := calendar.Hold{Until: calendar.Forever, Kind: calendar.Run, By: string(held.Job), Alone: held.Exclusive}
	j, ok := f.view.Job(held.Job)
	if held.Suspended {
		h.Kind = calendar.Suspended
		return h, calendar.Forever
	}
	if !ok {
		return h, calendar.Forever
	}
	h.Until, h.Expected, h.Host = f.endOf(j), endOf(j, f.now), held.Exclusive && vn.HostAloneFor(j.Placement())
	if j.LastRun().GivesUp(vn.Name) {
		h.Kind = calendar.Released
	}
	if j.RunningSince(f.now)+walltime(j) <= f.now { // it ends later at each look
		return h, f.now + 1
	}
	return h, h.End()
}

// beyond returns what a job of a reservation holds of a vnode that the reservation does not name.
func (f *future) beyond(vn *state.Vnode, held state.VnodeJob) resource.List {
	share, begun := vn.ReservedFor(held.Reservation)
	if !begun {
		return nil
	}
	return share.Beyond(held.Items)
}

// endInside makes the hold of a run that of one in a reservation, which ends it with itself.
func (f *future) endInside(h *calendar.Hold, id pbs.ReservationID, till pbs.Time) pbs.Time {
	h.Alone, h.Host = false, false // that it has of the reservation
	r, ok := f.view.Reservation(id)
	switch {
	case !ok:
		return till
	case r.End <= f.now:
		h.Until = min(h.Until, f.now+overtime)
		return f.now + 1
	}
	h.Until = min(h.Until, r.End)
	return min(till, h.Until)
}

// endOf returns when a running job gives its vnodes back at the latest. Reservations count on no soft_walltime.
func (f *future) endOf(j *state.Job) pbs.Time {
	if walltime(j) >= unending {
		return calendar.Forever
	}
	return lastEnd(j, f.now)
}

// promise returns the hold of a reservation, false if it is over, and from when on it is another one. What has begun is held
// as long as it is not given back, and what has not begun in its time is not held yet.
func (f *future) promise(vn *state.Vnode, p *state.Promise) (h calendar.Hold, till pbs.Time, ok bool) {
	h = calendar.Hold{
		From: p.From, Until: p.Until, Kind: calendar.Reservation, By: string(p.Reservation.ID),
		Alone: p.AloneOn(vn), Host: p.HostAloneOn(vn),
	}
	if p.Occurrence == 0 && begun(p.Reservation) {
		h.From, h.Until = min(h.From, f.now), f.atLast(h.Until)
		if p.From > f.now || p.Until <= f.now {
			return h, f.now + 1, true
		}
		return h, h.Until, true
	}
	h.From = max(h.From, f.now+1)
	if p.From <= f.now {
		return h, f.now + 1, h.From < h.Until
	}
	return h, h.From, h.From < h.Until
}

// atLast returns when something is given back that was to end at a time.
func (f *future) atLast(end pbs.Time) pbs.Time {
	if end > f.now {
		return end
	}
	return f.now + overtime
}

// amounts returns what is charged to vn of items that are held of a vnode, which may be another one that shares amounts of vn.
func (f *future) amounts(vn, from *state.Vnode, items resource.List) []calendar.Amount {
	all := make([]calendar.Amount, 0, len(items))
	for _, it := range items {
		def, ok := f.view.Resource(it.Name)
		if !ok || !def.AtVnodes() {
			continue
		}
		if f.pooled {
			if target := f.view.Pool(from, it.Name); target == nil || target.Name != vn.Name {
				continue
			}
		}
		if q, err := def.Parse(it.Value); err == nil {
			all = append(all, calendar.Amount{Resource: def.Name, Amount: measure(def, q, up)})
		}
	}
	return all
}

// conflict returns what is said of a job that fits but for what others are to have.
func (c *cycle) conflict(cl *class) state.Wait {
	if why, kept := c.blockedByKept(cl); kept {
		return why
	}
	return c.future.tooLong[cl].why
}
