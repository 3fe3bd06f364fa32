package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/alloc"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// An inside is what a reservation has of its vnodes: jobs of its queue get nothing else, and nobody else gets it. Of what the
// reservation does not name they get what its vnodes have left until it ends.
type inside struct {
	of    *state.Reservation
	seen  int    // so many of future.held are counted
	runs  bool   // jobs may start
	lost  bool   // some of its vnodes cannot be used
	world *world // what its jobs have left of it
	idle  *world // as if none ran
}

// queuesOfReservations are the queues of the reservations of a view.
type queuesOfReservations struct {
	at    moment
	of    []pbs.ReservationID
	names map[pbs.QueueName]bool // nil: there are none
	age   uint64                 // how often they have changed
}

// follow brings them up to a view.
func (q *queuesOfReservations) follow(v *state.View) {
	was := q.at
	q.at = momentOf(v)
	if was.before(v) && was.reservations == v.ReservationCount() && !was.reserves(v) {
		return
	}
	n, same := 0, true
	for r := range v.Reservations() {
		if same = n < len(q.of) && q.of[n] == r.ID; !same {
			break
		}
		n++
	}
	if same && n == len(q.of) {
		return
	}
	q.age++
	q.of, q.names = nil, nil
	for r := range v.Reservations() {
		if q.names == nil {
			q.names = map[pbs.QueueName]bool{}
		}
		q.of = append(q.of, r.ID)
		q.names[r.ID.Queue()] = true
	}
}

// inside returns what the jobs of a queue have that belongs to a reservation, nil if it belongs to none.
func (c *cycle) inside(queue pbs.QueueName) *inside {
	if !c.planner.reserved.names[queue] {
		return nil
	}
	in, known := c.insides[queue]
	if known {
		return in
	}
	if c.insides == nil {
		c.insides = map[pbs.QueueName]*inside{}
	}
	if r, ok := c.view.ReservationOf(queue); ok {
		in = newInside(c.view, r)
		in.world.loads, in.idle.loads = c.planner.loads, c.planner.loads
		in.world.unnamed = func(vn *state.Vnode, def resource.Def) int64 { return c.future.beside(vn.Name, def, r.End) }
		c.future.settle()
		in.seen = len(c.future.held)
	}
	c.insides[queue] = in
	return in
}

// beside returns what a vnode has of a resource, and keeps until a time, beside all that was promised of it.
func (f *future) beside(name pbs.VnodeName, def resource.Def, end pbs.Time) int64 {
	vn, ok := f.view.Vnode(name)
	if !ok {
		return 0
	}
	pool := f.view.Pool(vn, def.Name)
	if pool == nil {
		return 0
	}
	total := offered(def, pool.Available())
	left := min(total-charged(def, f.view.InUse(pool)), total-f.of(pool, true).HeldOf(calendar.Certain, def.Name, f.now, max(end, f.now+1)))
	return max(0, left)
}

// renew counts again what is left beside the reservation on vnodes of which others were given something in this cycle.
func (in *inside) renew(f *future) {
	f.settle()
	names := f.held[in.seen:]
	in.seen = len(f.held)
	if f.pooled && len(names) > 0 { // more vnodes than these have changed
		names = reservedNodes(in.of)
	}
	w := in.world
	for _, name := range names {
		i, ok := w.byVnode[name]
		if !ok {
			continue
		}
		changed := false
		for _, col := range w.columns {
			if !w.nodes[i].shareOf.Names(col.def.Name) {
				col.free[i], changed = w.left(col, i), true
			}
		}
		if changed {
			w.reset(w.nodes[i].host)
		}
	}
}

// take notes what a job of the reservation takes of what that does not name, until it ends by itself at the latest.
func (in *inside) take(c *cycle, j *state.Job, placed spec.ExecVnode, until span) {
	var rest spec.ExecVnode
	for _, ch := range placed {
		for _, part := range ch.Parts {
			i, ok := in.world.byVnode[part.Vnode]
			if !ok {
				continue
			}
			if part.Items = in.world.nodes[i].shareOf.Beyond(part.Items); len(part.Items) > 0 {
				rest = append(rest, spec.ExecChunk{Parts: []spec.ExecPart{part}})
			}
		}
	}
	if len(rest) == 0 {
		return
	}
	f := c.future
	until.last = min(until.last, max(in.of.End, c.now+1))
	f.add(holdOf(calendar.Run, j, c.now, until), rest, spec.Place{Sharing: spec.Shared})
	c.free.change(rest, -1)
	c.free.recount(rest)
	f.touch(c.free, rest.Vnodes())
}

func newInside(v *state.View, r *state.Reservation) *inside {
	in := &inside{of: r, runs: r.Running(), world: emptyInside(v, false), idle: emptyInside(v, true)}
	if !in.runs {
		return in
	}
	found := false
	for _, name := range reservedNodes(r) {
		vn, ok := v.Vnode(name)
		at := -1
		if ok {
			at = slices.IndexFunc(vn.Reserved, func(res alloc.Reserved) bool { return res.Reservation == r.ID })
		}
		if at < 0 {
			in.lost = true
			continue
		}
		found = true
		in.lost = in.lost || !sound(vn)
		in.world.addShare(vn, vn.Reserved[at])
		in.idle.addShare(vn, vn.Reserved[at])
	}
	in.lost = in.lost || !found || len(r.Taken()) > 0
	return in
}

func emptyInside(v *state.View, idle bool) *world {
	return &world{
		view: v, idle: idle, inside: true, psets: map[string][]*pset{},
		byHost: map[hostKey]int{}, byVnode: map[pbs.VnodeName]int{},
	}
}

// addShare adds what a reservation has of a vnode, as if that was all of it, and all of what it does not name.
func (w *world) addShare(vn *state.Vnode, res alloc.Reserved) {
	if !w.idle {
		res.Items = w.real(vn, res)
	}
	share := *vn
	share.Reserved, share.Lent, share.Assigned = nil, nil, res.Used
	for _, it := range vn.Available() {
		def, ok := w.view.Resource(it.Name)
		if !ok || !def.AtVnodes() {
			continue
		}
		if amount, has := res.Items.Get(it.Name); has {
			share.Configured = share.Configured.Set(it.Name, amount)
		} else if pool := w.view.Pool(vn, it.Name); pool == nil {
			share.Configured = share.Configured.Set(it.Name, "0")
		} else if pool != vn {
			share.Configured = share.Configured.Set(it.Name, text(def, offered(def, pool.Available())))
		}
	}
	w.add(&share)
	n := &w.nodes[len(w.nodes)-1]
	n.shareOf = &res
	n.tie = tie{queue: res.Reservation.Queue()}
	if w.idle {
		return
	}
	h := &w.hosts[n.host]
	h.jobs, h.held, h.shut = h.jobs-n.jobs, h.held-n.held, false
	n.jobs, n.held, n.alone = 0, 0, false
	for _, held := range vn.Jobs {
		if held.Reservation == res.Reservation && !held.Suspended {
			n.jobs++
			n.alone = n.alone || held.Exclusive
		}
	}
	h.jobs += n.jobs
	n.usable = idleEnough(vn) && vn.UsableFor(res.Reservation) // what ends may have it to itself still, beyond its time
}

// real returns what a reservation has of a vnode that the vnode really has: a maintenance, and one that was altered by force,
// may overlap with what others have.
func (w *world) real(vn *state.Vnode, res alloc.Reserved) resource.List {
	used := resource.List{}
	for _, held := range vn.Jobs {
		if sum, err := resource.Add(used, vn.Own(held.Items), w.view); err == nil {
			used = sum
		}
	}
	items := res.Items
	for _, it := range res.Items {
		def, ok := w.view.Resource(it.Name)
		if _, indirect := vn.Indirect(it.Name); !ok || indirect {
			continue
		}
		in := charged(def, res.Used)
		left := offered(def, vn.Available()) - charged(def, used)
		if most := in + max(0, left); most < charged(def, res.Items) {
			items = items.Set(it.Name, text(def, most))
		}
	}
	return items
}

// tryInside is try for a job of a reservation: neither other jobs nor the limits of the server stand in its way, and it
// stands in nobody's.
func (c *cycle) tryInside(j *state.Job, id pbs.JobID, cl *class, in *inside) bool {
	if c.waiting < c.exact && !c.mute() {
		c.logConsidered(j, id)
	}
	if c.moves(in.of) {
		return false // the next cycle sees its other vnodes
	}
	why, tried := c.reasons[cl]
	if !tried {
		if wait, reached := c.reachedInside(j, id); reached {
			c.explain(j, wait)
			return false
		}
		c.placed++
		in.renew(c.future)
		if placed, ok := in.world.placeFor(j, cl); ok {
			in.take(c, j, placed, c.future.end(j, c.planner.rows.walltime(j)))
			c.plan.Starts = append(c.plan.Starts, Start{Job: id, Select: j.SchedSelect, More: j.More(), ExecVnode: placed.String(), changes: c.shrunk(j, id, c.planner.rows.walltime(j))})
			c.planned(j)
			return true
		}
		why = in.why(cl)
		c.reasons[cl] = why
		c.logWhy(id, why.wait)
	}
	c.explain(j, why.wait)
	return false
}

// moves reports whether the cycle gives a reservation its vnodes anew: they are others when its starts are carried out.
func (c *cycle) moves(r *state.Reservation) bool {
	return slices.ContainsFunc(c.plan.Decisions, func(d *command.DecideReservation) bool { return d.Reservation == r.ID && d.Why == "" })
}

// reachedInside is reached for a job of a reservation, to which only the limits of its queue apply.
func (c *cycle) reachedInside(j *state.Job, id pbs.JobID) (state.Wait, bool) {
	if !c.limiter.applies(c.view, j.Queue) {
		return state.Wait{}, false
	}
	of := c.view.ClassOf(j)
	if why, held := c.limiter.holds(of); held {
		return why, true
	}
	why, reached := c.overQueue(j)
	if reached {
		c.log(pbs.LogSched, id, why.Text())
		c.limiter.held[of] = why
	}
	return why, reached
}

// overQueue is overLimit for the limits of the job's queue.
func (c *cycle) overQueue(j *state.Job) (state.Wait, bool) {
	own := slices.DeleteFunc(c.view.RunLimits(j), func(l state.Limit) bool { return l.Queue != j.Queue })
	return c.view.Reached(own, true, 1, func(l state.Limit) int64 {
		return c.limiter.planned[limited{l.Subject, l.Queue, l.Resource}]
	})
}

// why tells why a class does not fit into the reservation.
func (in *inside) why(cl *class) *reason {
	if cl.bad != "" {
		return &reason{never(state.Wait{Code: state.WaitMalformed, Words: cl.bad})}
	}
	if _, fits := in.idle.fits(cl); fits && !in.lost {
		return &reason{because(state.WaitBusy)}
	}
	return &reason{because(state.WaitNodes)}
}

// reservedNodes returns the vnodes of the present occurrence of a reservation.
func reservedNodes(r *state.Reservation) []pbs.VnodeName {
	if len(r.Occurrences) == 0 {
		return nil
	}
	return r.Nodes().Vnodes()
}
