package sched

import (
	"fmt"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// mostDecisions bounds the reservations that are decided in a cycle.
const mostDecisions = 64

// Reasons why a reservation does not get vnodes, with their blanks as in PBS.
const (
	noNodes      = "No available resources on nodes"
	notEligible  = "Node not eligible for advance reservation"
	nodeInUse    = "Reservation is requesting an exclusive node and node is in use"
	hasJobs      = "Reservation has running jobs in it"
	insufficient = "Insufficient amount of resource: "
)

// decide answers for the reservations that want vnodes, in the order of their submission. Queued jobs do not stand in
// their way.
func (c *cycle) decide() {
	if c.view.ReservationCount() == 0 || !c.view.Server().Scheduling() {
		return
	}
	for r := range c.view.Reservations() {
		switch {
		case !r.Undecided(c.now):
			if r.Retry > c.now && (c.plan.Again == 0 || r.Retry < c.plan.Again) {
				c.plan.Again = r.Retry
			}
		case c.view.Decider(r) != c.view.SchedulerName():
		case len(c.plan.Decisions) == mostDecisions:
			c.plan.More = true
			return
		case len(r.Occurrences) > 0:
			c.plan.Decisions = append(c.plan.Decisions, c.answer(r))
		}
	}
}

// A question is a reservation that wants vnodes.
type question struct {
	*state.Reservation
	*cycle
	class  *class
	found  []spec.ExecVnode // for each occurrence
	answer *command.DecideReservation
}

// answer decides one reservation, and keeps for it what it is to have: a new one gets its vnodes in one of the partitions that the
// scheduler plans for.
func (c *cycle) answer(r *state.Reservation) *command.DecideReservation {
	if r.State != pbs.ResvUnconfirmed {
		return c.answerIn(r, r.Partition)
	}
	var a *command.DecideReservation
	for _, part := range c.view.OwnPartitions() {
		if a = c.answerIn(r, part); a.Why == "" {
			break
		}
	}
	if a == nil { // it plans for nothing
		a = &command.DecideReservation{Reservation: r.ID, Asked: r.Asked, Why: noNodes}
	}
	if name := c.view.SchedulerName(); name != state.DefaultScheduler {
		a.Sched = name
	}
	return a
}

func (c *cycle) answerIn(r *state.Reservation, partition string) *command.DecideReservation {
	sel := r.Select
	if r.Ask != nil {
		sel = r.Ask.Select
	}
	place, _ := r.Resources.Get("place")
	q := question{
		Reservation: r, cycle: c, class: c.planner.class(c.view, &state.Class{Partition: partition, Select: sel, Place: place}),
		answer: &command.DecideReservation{Reservation: r.ID, Asked: r.Asked, Partition: partition},
	}
	c.open(q.class)
	c.logOf(pbs.LogResv, "Resv", string(r.ID), fmt.Sprintf("Confirming %d Occurrences", len(r.Occurrences)))
	gone := c.future.drop(r, r.Assignments)
	if q.answer.Why = q.decided(); q.answer.Why == "" && q.wantsMore() {
		q.answer.Why = q.serverShort()
	}
	if q.answer.Why != "" {
		q.answer.Start = 0
		for _, l := range gone {
			l.of.Add(l.was)
		}
		c.future.own = nil
		return q.answer
	}
	text := ""
	for n, nodes := range q.found {
		if n == 0 || !nodes.Equal(q.found[n-1]) {
			text = nodes.String()
		}
		q.answer.Nodes = append(q.answer.Nodes, text)
		from, until := q.times(n)
		q.keep(nodes, from, until)
	}
	return q.answer
}

// open makes sure that the worlds are there in which a class is placed.
func (c *cycle) open(cl *class) {
	if c.idle == nil {
		c.idle = c.planner.empty(c.view)
	}
	for _, n := range cl.sums { // those of the planner are there in the next cycle too
		c.idle.column(n.def)
		c.planner.all.column(n.def)
	}
	if c.bare == nil {
		c.bare = c.planner.laid(c.idle)
	}
	if cl.inSets() {
		c.bare.measured()
	}
	for _, n := range cl.sums {
		c.bare.column(n.def)
		c.free.column(n.def)
	}
}

// times returns when an occurrence is to be.
func (q *question) times(n int) (from, until pbs.Time) {
	switch {
	case n == 0 && q.answer.Start != 0:
		return q.answer.Start, q.answer.Start + q.Length
	case n == 0 && q.Ask != nil:
		return q.Ask.Start, q.Ask.End
	}
	return q.Times(n)
}

// runs reports whether the present occurrence has begun, and is not to begin anew.
func (q *question) runs() bool { return q.Running() && (q.Ask == nil || q.Ask.Start <= q.now) }

// window returns the time for which an occurrence wants vnodes.
func (q *question) window(n int) *window {
	from, until := q.times(n)
	if n == 0 && q.runs() {
		from = q.now
	}
	return q.reserves(from, until, true)
}

// reserves returns the window of a reservation.
func (q *question) reserves(from, until pbs.Time, whole bool) *window {
	return &window{future: q.future, from: from, span: span{last: max(until, from+1)}, whole: whole, reserve: true}
}

// keep notes in the calendar what the reservation is to have. What it does not have yet it will get as soon as that is committed,
// before any job starts.
func (q *question) keep(nodes spec.ExecVnode, from, until pbs.Time) {
	h := calendar.Hold{From: max(from, q.now+1), Until: until, Kind: calendar.Pending, By: string(q.ID)}
	if !q.runs() || from > q.now {
		q.future.note(h.From)
		q.future.add(h, nodes, q.Placement())
		return
	}
	q.future.note(h.From)
	h.Until = q.future.atLast(until)
	for _, ch := range nodes {
		for _, part := range ch.Parts {
			one := h
			if q.owns(nodes, part.Vnode) {
				one.From = from
			}
			q.future.add(one, spec.ExecVnode{{Parts: []spec.ExecPart{part}}}, q.Placement())
		}
	}
}

// owns reports whether the reservation has already of a vnode what an assignment gives it.
func (q *question) owns(nodes spec.ExecVnode, name pbs.VnodeName) bool {
	vn, ok := q.view.Vnode(name)
	if !ok {
		return false
	}
	share, has := vn.ReservedFor(q.ID)
	var sum resource.List
	for _, ch := range nodes {
		for _, part := range ch.Parts {
			if part.Vnode == name {
				if more, err := resource.Add(sum, part.Items, q.view); err == nil {
					sum = more
				}
			}
		}
	}
	return has && resource.Fits(sum, share.Items, nil, q.view) == nil
}

// decided finds vnodes, or says why there are none.
func (q *question) decided() string {
	if q.class.bad != "" {
		return q.class.bad
	}
	altered := q.Ask != nil && q.State == pbs.ResvBeingAltered
	switch {
	case q.Start == 0 && q.State == pbs.ResvUnconfirmed:
		return q.soon()
	case q.State == pbs.ResvUnconfirmed || altered && q.Ask.Back.State == pbs.ResvUnconfirmed:
		return q.fresh()
	case altered && q.runs():
		return q.alteredRunning()
	case altered:
		return q.altered()
	}
	return q.repaired()
}

// fresh finds vnodes for every occurrence.
func (q *question) fresh() (why string) {
	for n := range q.Occurrences {
		if q.Rule != "" {
			start, _ := q.times(n)
			q.logOf(pbs.LogDebug2, "Resv", string(q.ID), fmt.Sprintf("Occurrence %d/%d,%s", n+q.Index(), q.Count, inZone(q.view, start).Format("20060102-15:04:05")))
		}
		placed, ok := q.bare.findWithin(q.class, q.window(n))
		if !ok {
			why = q.denial(n)
			break
		}
		q.found = append(q.found, placed)
		if len(q.Occurrences) > 1 { // the next one may begin before this one ends
			from, until := q.times(n)
			q.keep(placed, from, until)
		}
	}
	if len(q.Occurrences) > 1 {
		q.future.drop(q.Reservation, slices.Values(q.found))
	}
	return why
}

// soon finds the first time at which the reservation fits.
func (q *question) soon() string {
	at, holds := q.now, q.serverHolds()
	found := func(w *world, from pbs.Time) bool {
		if holds != nil {
			if _, short := holds.Short(from, from+q.Length, q.wants()); short {
				return false
			}
		}
		placed, ok := w.findWithin(q.class, q.reserves(from, from+q.Length, false))
		if ok {
			at, q.found = from, []spec.ExecVnode{placed}
		}
		return ok
	}
	if !found(q.free, q.now) && !q.ahead(true, found) {
		return q.denialIn(func() *window { return q.reserves(q.now, q.now+q.Length, true) })
	}
	q.answer.Start = at
	return ""
}

// has reports whether vnodes have in a window what is to be had of them, whatever state they are in.
func (q *question) has(nodes spec.ExecVnode, win *window) (ok bool) {
	look := *win
	look.anyway = true
	q.bare.within(&look, func() {
		for _, name := range nodes.Vnodes() {
			i, there := q.bare.byVnode[name]
			if !there {
				return
			}
			q.bare.look(q.bare.nodes[i].host)
		}
		ok = q.bare.has(nodes) && q.bare.beside(nodes, q.Placement())
	})
	return ok
}

// denial says why an occurrence gets no vnodes.
func (q *question) denial(n int) string { return q.denialIn(func() *window { return q.window(n) }) }

func (q *question) denialIn(window func() *window) string {
	cl := q.class
	if short, ok := q.overall(cl, beyondTotal); ok {
		q.unsatisfied(0)
		return insufficient + short.def.Name + " "
	}
	for k, ch := range cl.chunks {
		if one := cl.alone(ch); !q.fitsAnywhere(one) {
			q.unsatisfied(k)
			return insufficient + q.lacking(one).Resource + " "
		}
	}
	if q.bare.someUnreserved() {
		open := window()
		open.reserve = false
		if placed, ok := q.bare.findWithin(cl, open); ok {
			q.logOf(pbs.LogDebug3, "Node", string(placed.Vnodes()[0]), notEligible)
			return notEligible
		}
	}
	if cl.place.Sharing == spec.Exclusive || cl.place.Sharing == spec.ExclusiveHost {
		shared := *cl
		shared.place.Sharing = spec.Shared
		if placed, ok := q.bare.findWithin(&shared, window()); ok {
			q.logOf(pbs.LogDebug3, "Node", string(placed.Vnodes()[0]), nodeInUse)
			return nodeInUse
		}
	}
	if slices.ContainsFunc(cl.chunks, func(ch chunk) bool { return ch.host != "" || ch.vnode != "" }) {
		return insufficient + "host "
	}
	return noNodes
}

// someUnreserved reports whether there are vnodes that are not for new reservations.
func (w *world) someUnreserved() bool {
	for i := range w.nodes {
		if w.nodes[i].vnode.Unreserved {
			return true
		}
	}
	return false
}

// fitsAnywhere reports whether a class fits if nothing runs.
func (q *question) fitsAnywhere(cl *class) bool {
	_, ok := q.idle.fits(cl)
	return ok
}

// unsatisfied tells which chunk no vnode has.
func (q *question) unsatisfied(k int) {
	sel, err := spec.ParseSelect(q.class.key.sel)
	if err != nil || k >= len(sel.Chunks) {
		return
	}
	one := spec.Select{Chunks: sel.Chunks[k : k+1]}
	q.logOf(pbs.LogDebug3, "Node", string(q.ID), "Failed to satisfy subchunk: "+one.String())
}
