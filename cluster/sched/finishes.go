package sched

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A due is a run, or a reservation, and when it is expected to end in a cycle.
type due struct {
	end pbs.Time // foreverMore: nobody knows it
	*finish
}

// compare orders ends by time, and then by job.
func (d due) compare(o due) int {
	return cmp.Or(cmp.Compare(d.end, o.end), cmp.Compare(d.seq, o.seq), cmp.Compare(d.sub, o.sub))
}

// endings holds the ends of the runs of a cycle: of those that are as they were in earlier cycles as many as were asked for.
type endings struct {
	kept *ends
	all  []due         // the first ones, in their order
	own  []due         // those of the others that come after these: of runs that last longer than expected, that are stopped, that the cycle begins; of reservations
	last *finish       // up to which those that are kept are among all; nil: none is
	done bool          // all of them are
	on   map[int][]due // by host: those of own ones, and of all, that are not kept
}

// finishes returns the ends of the runs of the cycle.
func (c *cycle) finishes() *endings {
	r := c.reserving
	if r.ends != nil {
		return r.ends
	}
	kept := &c.planner.ends
	kept.follow(c.view, c.planner.all, c.planner.rows)
	r.ends = &endings{kept: kept, on: map[int][]due{}}
	kept.order.Scan(func(f *finish) bool {
		if f.end <= c.now {
			r.ends.own = append(r.ends.own, due{c.finish(f.job), f})
		}
		return f.end <= c.now
	})
	for _, f := range kept.stopped {
		r.ends.own = append(r.ends.own, due{c.finish(f.job), f})
	}
	slices.SortFunc(r.ends.own, due.compare)
	if c.view.ReservationCount() > 0 {
		c.reservationsEnd()
	}
	for _, s := range c.plan.Starts { // before somebody has asked for ends
		c.begunEnds(s)
	}
	return r.ends
}

// reservationsEnd adds the ends of reservations that run, which give back what they have; what their jobs leave before stays theirs.
func (c *cycle) reservationsEnd() {
	r := c.reserving
	byID := map[pbs.ReservationID]int{}
	var ends []due
	for _, i := range r.ends.kept.reserved {
		for _, res := range c.planner.all.nodes[i].vnode.Reserved {
			of, ok := c.view.Reservation(res.Reservation)
			if !ok {
				continue
			}
			at, met := byID[of.ID]
			if !met {
				at = len(ends)
				byID[of.ID] = at
				end := wholeSecond(of.End)
				if end <= c.now {
					end = wholeSecond(c.now) + r.turn
				}
				ends = append(ends, due{end, &finish{begun: true}})
			}
			ends[at].of = append(ends[at].of, giving{node: i, slots: charged(r.ncpus, res.Items), mem: charged(r.mem, res.Items)})
		}
	}
	for _, d := range ends {
		r.ends.add(c.free, d)
	}
}

// begunEnds adds the end of a run that the cycle has planned.
func (c *cycle) begunEnds(s Start) {
	j, ok := c.view.Job(s.Job)
	if !ok {
		j, ok = c.view.Job(s.Job.Parent())
	}
	placed, err := spec.ParseExecVnode(s.ExecVnode)
	if !ok || err != nil || c.inside(j.Queue) != nil {
		return
	}
	c.begins(j, placed, c.free.isExclusive(placed, &class{place: j.Placement()}), c.planner.boundsOf(j))
}

// begins adds the end of a run that begins in the cycle, and returns it.
func (c *cycle) begins(j *state.Job, placed spec.ExecVnode, exclusive bool, b *bounds) {
	f := &finish{seq: j.Seq, sub: j.Sub, begun: true, exclusive: exclusive, bounds: b}
	for _, ch := range placed {
		for _, part := range ch.Parts {
			if i, ok := c.free.byVnode[part.Vnode]; ok {
				f.add(c.view, int32(i), part.Items, false)
			}
		}
	}
	c.reserving.ends.add(c.free, due{c.endsBy(j), f})
}

// endsBy returns when a run is expected to end that begins in the cycle.
func (c *cycle) endsBy(j *state.Job) pbs.Time {
	if long, known := c.runtime(j); known {
		return wholeSecond(c.now) + long
	}
	return foreverMore
}

// add puts an end that is not kept among the others.
func (e *endings) add(w *world, d due) {
	for _, l := range d.of {
		h := w.nodes[l.node].host
		if of := e.on[h]; len(of) == 0 || of[len(of)-1].finish != d.finish {
			e.on[h] = append(of, d)
		}
	}
	to := &e.own
	if e.done || e.last != nil && d.compare(due{e.last.end, e.last}) < 0 {
		to = &e.all
	}
	at, _ := slices.BinarySearchFunc(*to, d, due.compare)
	*to = slices.Insert(*to, at, d)
}

// fewest is how many ends are looked up at once, at least.
const fewest = 64

// at returns the nth end, false if there are not so many.
func (e *endings) at(n int, now pbs.Time) (due, bool) {
	for n >= len(e.all) && !e.done {
		e.more(now)
	}
	if n >= len(e.all) {
		return due{}, false
	}
	return e.all[n], true
}

// more looks up more of them.
func (e *endings) more(now pbs.Time) {
	from, most := e.last, max(fewest, len(e.all))
	if from == nil {
		from = &finish{end: now + 1}
	}
	begin, last := len(e.all), e.last
	e.kept.order.Ascend(from, func(f *finish) bool {
		if f != last {
			e.all, e.last = append(e.all, due{f.end, f}), f
		}
		return len(e.all)-begin < most
	})
	e.done = len(e.all)-begin < most
	n := len(e.own)
	if !e.done {
		n, _ = slices.BinarySearchFunc(e.own, due{e.last.end, e.last}, due.compare)
	}
	e.all, e.own = append(e.all, e.own[:n]...), e.own[n:]
	slices.SortStableFunc(e.all[begin:], due.compare)
}

// finishesOn returns the ends of the runs of one host, those first that come first.
func (c *cycle) finishesOn(h int) []due {
	e := c.finishes()
	all := slices.Clone(e.on[h])
	for _, i := range c.free.hosts[h].nodes {
		for _, f := range e.kept.on[i] {
			all = append(all, due{c.finish(f.job), f})
		}
	}
	slices.SortFunc(all, due.compare)
	return slices.CompactFunc(all, func(a, b due) bool { return a.finish == b.finish })
}

// finish returns when a run is expected to end. One that should have is taken to end before the next dispatch turn but one.
func (c *cycle) finish(j *state.Job) pbs.Time {
	long, known := c.runtime(j)
	if !known {
		return foreverMore
	}
	if end := wholeSecond(j.RunningSince(c.now) + long); end > c.now {
		return end
	}
	return wholeSecond(c.now) + c.reserving.turn
}

// reach is from where a job may have what it keeps.
type reach struct {
	host int              // the only one; -1: several
	some func(h int) bool // whether a host is among them
}

// soonest returns the first end of a run at which a job has enough slots, and memory, if all that ends until then is for it; 0: there is
// none. Where they are is not looked at.
func (c *cycle) soonest(cl *class, m mode, parts []state.Kept, from reach) pbs.Time {
	r := c.reserving
	p := state.Pending{Held: parts}
	have, havemem := p.Slots(), p.Mem()
	want, wantmem := cl.slots(), cl.sum(r.mem.Name)
	if cl.apart() && !r.perSlot || slices.ContainsFunc(cl.chunks, func(ch chunk) bool { return ch.once(r.mem.Name) }) {
		var per int64
		for i := range cl.chunks {
			per = max(per, cl.chunks[i].of(r.mem.Name))
		}
		wantmem = times(per, max(1, c.hostsOf(parts)))
	}
	enough := func() bool { return have >= want && (!m.memory || havemem >= wantmem) }
	ends := c.finishes()
	if first, ok := ends.at(0, c.now); ok && enough() && first.end < foreverMore {
		return first.end
	}
	some := from.some
	if from.host >= 0 {
		some = func(h int) bool { return h == from.host }
	}
	next := func(n int) (due, bool) { return ends.at(n, c.now) }
	if from.host >= 0 {
		here := c.finishesOn(from.host)
		next = func(n int) (due, bool) {
			if n == len(here) {
				return due{}, false
			}
			return here[n], true
		}
	}
	for n := 0; ; n++ {
		d, ok := next(n)
		if !ok || d.end == foreverMore {
			return 0
		}
		for _, l := range d.of {
			if some(c.free.nodes[l.node].host) {
				have, havemem = have+l.slots, havemem+l.mem
			}
		}
		if enough() {
			return d.end
		}
	}
}

func (c *cycle) hostsOf(parts []state.Kept) int {
	hosts := map[int]bool{}
	for _, k := range parts {
		hosts[c.free.nodes[c.free.byVnode[k.Vnode]].host] = true
	}
	return len(hosts)
}
