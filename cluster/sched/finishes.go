package sched

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A finish is the expected end of a run, and what it gives back.
type finish struct {
	end pbs.Time // foreverMore: nobody knows it
	seq uint64
	sub uint32
	run run
	of  []berth // by node, in place of its host
}

// An ending is the expected end of a run, and what it gives back of one host.
type ending struct {
	end        pbs.Time
	seq        uint64
	sub        uint32
	slots, mem int64
}

// compare orders as finish.compare does.
func (e ending) compare(o ending) int {
	return cmp.Or(cmp.Compare(e.end, o.end), cmp.Compare(e.seq, o.seq), cmp.Compare(e.sub, o.sub))
}

// finishesOn returns the runs of one host, those that end first first.
func (c *cycle) finishesOn(h int) []ending {
	r := c.reserving
	if r.endsOn == nil {
		ends := c.finishes()
		r.endsOn = make([][]ending, len(c.free.hosts))
		for i := range ends {
			r.addOn(c.free, &ends[i])
		}
	}
	return r.endsOn[h]
}

// addOn notes the end of a run at its hosts.
func (r *reserving) addOn(w *world, f *finish) {
	for _, b := range f.of {
		h := w.nodes[b.host].host
		all := r.endsOn[h]
		e := ending{f.end, f.seq, f.sub, b.slots, b.mem}
		at, met := slices.BinarySearchFunc(all, e, ending.compare)
		if met {
			all[at].slots, all[at].mem = all[at].slots+b.slots, all[at].mem+b.mem
			continue
		}
		r.endsOn[h] = slices.Insert(all, at, e)
	}
}

// finishes returns the runs of the cycle, those that end first first.
func (c *cycle) finishes() []finish {
	r := c.reserving
	if r.ends != nil {
		return r.ends
	}
	r.ends = make([]finish, 0, len(c.free.nodes))
	byJob := map[pbs.JobID]int{} // of those that may be met again
	for i := range c.free.nodes {
		vn := c.free.nodes[i].vnode
		for _, held := range vn.Jobs {
			j, ok := c.view.Job(held.Job)
			if _, inside := vn.ReservedFor(held.Reservation); !ok || held.Suspended || inside {
				continue
			}
			at, met := 0, false
			on := j.LastRun().ExecVnode
			several := len(on) != 1 || len(on[0].Parts) > 1
			if several {
				at, met = byJob[held.Job]
			}
			if !met {
				if at = len(r.ends); several {
					byJob[held.Job] = at
				}
				r.ends = append(r.ends, finish{end: c.finish(j), seq: j.Seq, sub: j.Sub, run: run{exclusive: held.Exclusive, bounds: c.planner.boundsOf(j)}})
			}
			f := &r.ends[at]
			f.run.end, f.run.exclusive = f.end, f.run.exclusive || held.Exclusive
			f.run.placed = append(f.run.placed, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: vn.Name, Items: held.Items}}})
			f.of = append(f.of, berth{int64(i), charged(r.ncpus, held.Items), charged(r.mem, held.Items)})
		}
	}
	c.reservationsEnd()
	r.ends = sorted(r.ends)
	for _, f := range c.begunInThis() {
		r.addEnd(c, f)
	}
	return r.ends
}

// reservationsEnd adds the ends of reservations that run, which give back what they have; what their jobs leave before stays theirs.
func (c *cycle) reservationsEnd() {
	r := c.reserving
	byID := map[pbs.ReservationID]int{}
	for i := range c.free.nodes {
		for _, res := range c.free.nodes[i].vnode.Reserved {
			of, ok := c.view.Reservation(res.Reservation)
			if !ok {
				continue
			}
			at, met := byID[of.ID]
			if !met {
				at = len(r.ends)
				byID[of.ID] = at
				end := wholeSecond(of.End)
				if end <= c.now {
					end = wholeSecond(c.now) + r.turn
				}
				r.ends = append(r.ends, finish{end: end})
			}
			r.ends[at].of = append(r.ends[at].of, berth{int64(i), charged(r.ncpus, res.Items), charged(r.mem, res.Items)})
		}
	}
}

// sorted returns ends in their order. They are large: their numbers are sorted, and each is moved once.
func sorted(ends []finish) []finish {
	order := make([]int32, len(ends))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(ends[a].compare(ends[b]), cmp.Compare(a, b)) })
	out := make([]finish, 0, len(ends)+1)
	for _, i := range order {
		out = append(out, ends[i])
	}
	return out
}

// begunInThis are the runs that the cycle has planned before it looked at ends.
func (c *cycle) begunInThis() (all []finish) {
	r := c.reserving
	for _, s := range c.plan.Starts {
		j, ok := c.view.Job(s.Job)
		if !ok {
			j, ok = c.view.Job(s.Job.Parent())
		}
		placed, err := spec.ParseExecVnode(s.ExecVnode)
		if !ok || err != nil || c.inside(j.Queue) != nil {
			continue
		}
		end := foreverMore
		if long, known := c.runtime(j); known {
			end = wholeSecond(c.now) + long
		}
		all = append(all, finish{end: end, seq: j.Seq, sub: j.Sub, run: run{end, placed, !r.sharesAll(c, placed, j), c.planner.boundsOf(j)}})
	}
	return all
}

func (r *reserving) sharesAll(c *cycle, placed spec.ExecVnode, j *state.Job) bool {
	return !c.free.isExclusive(placed, &class{place: j.Placement()})
}

// addEnd puts the end of a run among the others.
func (r *reserving) addEnd(c *cycle, f finish) {
	for _, ch := range f.run.placed {
		for _, part := range ch.Parts {
			if i, ok := c.free.byVnode[part.Vnode]; ok {
				f.of = append(f.of, berth{int64(i), charged(r.ncpus, part.Items), charged(r.mem, part.Items)})
			}
		}
	}
	at, _ := slices.BinarySearchFunc(r.ends, f, finish.compare)
	r.ends = slices.Insert(r.ends, at, f)
	if r.endsOn != nil {
		r.addOn(c.free, &f)
	}
}

// compare orders ends by time, and then by job.
func (f finish) compare(o finish) int {
	return cmp.Or(cmp.Compare(f.end, o.end), cmp.Compare(f.seq, o.seq), cmp.Compare(f.sub, o.sub))
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
	if ends := c.finishes(); enough() && len(ends) > 0 && ends[0].end < foreverMore {
		return ends[0].end
	}
	if from.host >= 0 {
		for _, e := range c.finishesOn(from.host) {
			if e.end == foreverMore {
				return 0
			}
			if have, havemem = have+e.slots, havemem+e.mem; enough() {
				return e.end
			}
		}
		return 0
	}
	for _, f := range c.finishes() {
		if f.end == foreverMore {
			return 0
		}
		for _, b := range f.of {
			if from.some(c.free.nodes[b.host].host) {
				have, havemem = have+b.slots, havemem+b.mem
			}
		}
		if enough() {
			return f.end
		}
	}
	return 0
}

func (c *cycle) hostsOf(parts []state.Kept) int {
	hosts := map[int]bool{}
	for _, k := range parts {
		hosts[c.free.nodes[c.free.byVnode[k.Vnode]].host] = true
	}
	return len(hosts)
}
