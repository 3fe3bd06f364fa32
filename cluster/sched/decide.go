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
	if c.future == nil || !c.view.Server().Scheduling() {
		return
	}
	for r := range c.view.Reservations() {
		switch {
		case !r.Undecided(c.now):
			if r.Retry > c.now && (c.plan.Again == 0 || r.Retry < c.plan.Again) {
				c.plan.Again = r.Retry
			}
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
	answer *command.DecideReservation
}

// answer decides one reservation, and keeps for it what it is to have.
func (c *cycle) answer(r *state.Reservation) *command.DecideReservation {
	sel := r.Select
	if r.Ask != nil {
		sel = r.Ask.Select
	}
	place, _ := r.Resources.Get("place")
	q := question{r, c, c.planner.class(c.view, &state.Class{Select: sel, Place: place}), &command.DecideReservation{Reservation: r.ID, Asked: r.Asked}}
	c.open(q.class)
	c.logOf(pbs.LogResv, "Resv", string(r.ID), fmt.Sprintf("Confirming %d Occurrences", len(r.Occurrences)))
	var gone []left
	for n := range r.Occurrences {
		gone = append(gone, c.future.drop(r, nodesOf(r.Occurrences[n].Nodes))...)
	}
	q.answer.Why = q.decided()
	if q.answer.Why != "" {
		q.answer.Nodes, q.answer.Start = nil, 0
		for _, l := range gone {
			l.of.Add(l.was)
		}
		return q.answer
	}
	for n, nodes := range q.answer.Nodes {
		from, until := q.times(n)
		q.keep(nodesOf(nodes), from, until)
	}
	return q.answer
}

// open makes sure that the worlds are there in which a class is placed.
func (c *cycle) open(cl *class) {
	if c.idle == nil {
		c.idle = c.planner.empty(c.view)
	}
	if c.bare == nil {
		c.planner.bare = c.idle.copyTo(c.planner.bare)
		c.bare = c.planner.bare
	}
	if len(cl.groups.defs) > 0 {
		c.bare.measured()
	}
	for _, n := range cl.sums {
		c.bare.column(n.def)
		c.free.column(n.def)
	}
}

// nodesOf reads an assignment; of one that cannot be read it is nothing.
func nodesOf(text string) spec.ExecVnode {
	nodes, err := spec.ParseExecVnode(text)
	if text == "" || err != nil {
		return nil
	}
	return nodes
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

// runs tells whether the present occurrence has begun, and is not to begin anew.
func (q *question) runs() bool { return q.Running() && (q.Ask == nil || q.Ask.Start <= q.now) }

// window returns the time for which an occurrence wants vnodes.
func (q *question) window(n int) *window {
	from, until := q.times(n)
	if n == 0 && q.runs() {
		from = q.now
	}
	return &window{future: q.future, from: from, until: max(until, from+1), whole: true, reserve: true}
}

// keep notes in the calendar what the reservation is to have. What it does not have yet it will get as soon as that is committed,
// before any job starts.
func (q *question) keep(nodes spec.ExecVnode, from, until pbs.Time) {
	h := calendar.Hold{From: max(from, q.now+1), Until: until, Kind: calendar.Reservation, By: string(q.ID)}
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

// owns tells whether the reservation has already of a vnode what an assignment gives it.
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
		q.answer.Nodes = append(q.answer.Nodes, placed.String())
		if len(q.Occurrences) > 1 { // the next one may begin before this one ends
			from, until := q.times(n)
			q.keep(placed, from, until)
		}
	}
	if len(q.Occurrences) > 1 {
		for _, nodes := range q.answer.Nodes {
			q.future.drop(q.Reservation, nodesOf(nodes))
		}
	}
	return why
}

// soon finds the first time at which the reservation fits.
func (q *question) soon() string {
	at := q.now
	found := func(w *world, from pbs.Time) bool {
		placed, ok := w.findWithin(q.class, &window{future: q.future, from: from, until: from + q.Length, reserve: true})
		if ok {
			at, q.answer.Nodes = from, []string{placed.String()}
		}
		return ok
	}
	if !found(q.free, q.now) && !q.ahead(true, found) {
		return q.denialIn(func() *window {
			return &window{future: q.future, from: q.now, until: q.now + q.Length, whole: true, reserve: true}
		})
	}
	q.answer.Start = at
	return ""
}

// altered finds vnodes for an occurrence ahead that is to be at another time, or to have less: those that it has, if they will do.
func (q *question) altered() string {
	has := nodesOf(q.Nodes())
	if q.Ask.Select != q.Select || len(has) == 0 || !q.stays(has, q.window(0)) {
		placed, ok := q.bare.findWithin(q.class, q.window(0))
		if !ok {
			return q.denial(0)
		}
		has = placed
	}
	q.others(has)
	return ""
}

// others answers with the vnodes of the present occurrence, and those that the others have.
func (q *question) others(first spec.ExecVnode) {
	q.answer.Nodes = []string{first.String()}
	for _, o := range q.Occurrences[1:] {
		q.answer.Nodes = append(q.answer.Nodes, o.Nodes)
	}
}

// stays tells whether the reservation may have vnodes in a window that it has already, which must be usable.
func (q *question) stays(nodes spec.ExecVnode, win *window) bool {
	for _, name := range nodes.Vnodes() {
		if vn, ok := q.view.Vnode(name); !ok || !sound(vn) {
			return false
		}
	}
	return q.has(nodes, win)
}

// has tells whether vnodes have in a window what is to be had of them, whatever state they are in.
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

// A piece is a chunk of an assignment, and which of the chunks of the request it serves; none: -1.
type piece struct {
	chunk spec.ExecChunk
	kind  int
}

// pieces finds out what the parts of an assignment are for.
func (q *question) pieces(nodes spec.ExecVnode) []piece {
	want := make([]int, len(q.class.chunks))
	for k, ch := range q.class.chunks {
		want[k] = ch.count
	}
	var all []piece
	for _, ch := range nodes {
		p := piece{ch, -1}
		for k := range want {
			if want[k] > 0 && q.serves(ch, q.class.chunks[k]) {
				p.kind = k
				want[k]--
				break
			}
		}
		all = append(all, p)
	}
	return all
}

// serves tells whether a chunk of an assignment is what a chunk of the request asks for.
func (q *question) serves(has spec.ExecChunk, wants chunk) bool {
	var sum resource.List
	for _, part := range has.Parts {
		i, ok := q.bare.byVnode[part.Vnode]
		if !ok || wants.vnode != "" && wants.vnode != part.Vnode {
			return false
		}
		if host, named := q.bare.namedBy(wants); !named || host >= 0 && host != q.bare.nodes[i].host {
			return false
		}
		for _, p := range wants.props {
			if offer, ok := q.bare.nodes[i].offer.Get(p.def.Name); !resource.Matches(p.def, p.want, offer, ok) {
				return false
			}
		}
		more, err := resource.Add(sum, part.Items, q.view)
		if err != nil {
			return false
		}
		sum = more
	}
	for _, n := range wants.needs {
		if charged(n.def, sum) != n.amount {
			return false
		}
	}
	for _, it := range sum {
		if def, ok := q.view.Resource(it.Name); ok && charged(def, resource.List{it}) > 0 &&
			!slices.ContainsFunc(wants.needs, func(n need) bool { return n.def.Name == it.Name }) {
			return false
		}
	}
	return true
}

// busy tells whether jobs of the reservation are on a vnode.
func (q *question) busy(vn *state.Vnode) bool {
	return slices.ContainsFunc(vn.Jobs, func(held state.VnodeJob) bool { return held.Reservation == q.ID })
}

// repaired replaces the vnodes of the present or next occurrence that cannot be used; where jobs of the reservation run they
// are left. The others are looked at when it is their turn.
func (q *question) repaired() string {
	has := nodesOf(q.Nodes())
	var kept []piece
	win := q.window(0)
	for _, p := range q.pieces(has) {
		switch nodes := append(chunksOf(kept), p.chunk); {
		case p.kind >= 0 && !q.taken(p.chunk) && q.stays(nodes, win):
			kept = append(kept, p)
		case q.runs() && q.used(p.chunk):
			return noNodes
		}
	}
	whole, ok := has, len(kept) == len(has) && len(kept) == q.class.total()
	if !ok {
		whole, ok = q.complete(kept, win)
	}
	if !ok {
		return q.denial(0)
	}
	q.others(whole)
	return ""
}

func chunksOf(all []piece) (nodes spec.ExecVnode) {
	for _, p := range all {
		nodes = append(nodes, p.chunk)
	}
	return nodes
}

// taken tells whether a maintenance has a vnode of a chunk.
func (q *question) taken(ch spec.ExecChunk) bool {
	return slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool { return slices.Contains(q.Taken, p.Vnode) })
}

// used tells whether jobs of the reservation are on a vnode of a chunk.
func (q *question) used(ch spec.ExecChunk) bool {
	return slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool {
		vn, ok := q.view.Vnode(p.Vnode)
		return ok && q.busy(vn)
	})
}

// complete adds to what is kept what is missing of the request; on vnodes that the reservation had before, if they will do.
func (q *question) complete(kept []piece, win *window) (whole spec.ExecVnode, ok bool) {
	w, cl := q.bare, q.class
	switch {
	case len(kept) == 0 && len(q.Taken) == 0:
		return w.findWithin(cl, win)
	case len(kept) < cl.total() && len(cl.groups.defs) > 0: // all of it is in one placement set
		if q.runs() {
			return nil, false
		}
		return w.findWithin(cl, win)
	}
	has := chunksOf(kept)
	w.within(win, func() {
		w.attempt()
		w.change(has, -1)
		defer func() {
			w.change(has, 1)
			w.recount(has)
		}()
		for _, name := range has.Vnodes() {
			w.look(w.nodes[w.byVnode[name]].host)
			w.mark(w.byVnode[name])
		}
		w.recount(has)
		ok = true
		for k, ch := range cl.chunks {
			for _, p := range kept {
				if p.kind == k {
					whole, ch.count = append(whole, p.chunk), ch.count-1
				}
			}
			var more spec.ExecVnode
			ok = ok && q.addTo(w, ch, &more)
			whole = append(whole, more...)
			defer w.undo(more)
		}
	})
	return whole, ok
}

// addTo places more chunks of one kind beside those that the attempt has placed.
func (q *question) addTo(w *world, ch chunk, more *spec.ExecVnode) bool {
	if ch.count <= 0 {
		return true
	}
	if q.class.place.Arrangement == spec.Pack && len(w.touched) > 0 {
		return len(w.touched) == 1 && w.fill(w.touched[0], q.class, ch, ch.count, more) == ch.count
	}
	if before := w.setOf(q.Taken); before != nil {
		w.set = before
		ch.count = w.leftover(q.class, ch, more)
		w.set = nil
	}
	if q.class.place.Arrangement == spec.Pack {
		one := *q.class
		one.chunks, one.sums = []chunk{ch}, nil
		one.add(ch)
		placed, ok := w.onOne(&one)
		*more = append(*more, placed...)
		return ok
	}
	return w.leftover(q.class, ch, more) == 0
}

// setOf returns the set of some vnodes, nil if there are none.
func (w *world) setOf(names []pbs.VnodeName) *pset {
	s := &pset{}
	for _, name := range names {
		if i, ok := w.byVnode[name]; ok {
			s.nodes, s.hosts = append(s.nodes, i), append(s.hosts, w.nodes[i].host)
		}
	}
	slices.Sort(s.nodes)
	slices.Sort(s.hosts)
	s.hosts = slices.Compact(s.hosts)
	if len(s.nodes) == 0 {
		return nil
	}
	return s
}

// alteredRunning answers for an occurrence that has begun: it keeps its vnodes, but for those of chunks that it is to have
// no longer. Where its jobs run it keeps enough for them, and of the others it gives up first those that cannot be used.
func (q *question) alteredRunning() string {
	has := nodesOf(q.Nodes())
	win := q.window(0)
	if q.Ask.Select == q.Select {
		if !q.has(has, win) {
			return q.denial(0)
		}
		q.others(has)
		return ""
	}
	kept, ok := q.needed(has)
	if !ok {
		return hasJobs
	}
	if !q.stays(chunksOf(kept), win) {
		return noNodes
	}
	whole, ok := q.complete(kept, win)
	if !ok {
		return q.denial(0)
	}
	q.others(whole)
	return ""
}

// needed chooses which chunks stay of those that the reservation has; false: its jobs need more than the new request has.
func (q *question) needed(has spec.ExecVnode) (kept []piece, ok bool) {
	want := make([]int, len(q.class.chunks))
	for k, ch := range q.class.chunks {
		want[k] = ch.count
	}
	stays := make([]int, len(has)) // the kind that a chunk is kept as, from 1
	keep := func(i int) bool {
		for k := range want {
			if want[k] > 0 && q.serves(has[i], q.class.chunks[k]) {
				stays[i] = k + 1
				want[k]--
				return true
			}
		}
		return false
	}
	for i, ch := range has { // what jobs run on
		if !q.covers(has, stays, ch) && !keep(i) {
			return nil, false
		}
	}
	for _, usable := range []bool{true, false} {
		for i, ch := range has {
			if stays[i] == 0 && q.usable(ch) == usable {
				keep(i)
			}
		}
	}
	for i, ch := range has {
		if stays[i] > 0 {
			kept = append(kept, piece{ch, stays[i] - 1})
		}
	}
	return kept, true
}

// usable tells whether all vnodes of a chunk are.
func (q *question) usable(ch spec.ExecChunk) bool {
	return !slices.ContainsFunc(ch.Parts, func(p spec.ExecPart) bool {
		vn, ok := q.view.Vnode(p.Vnode)
		return !ok || !sound(vn)
	})
}

// covers tells whether the chunks that stay have enough for the jobs on the vnodes of a chunk.
func (q *question) covers(has spec.ExecVnode, stays []int, ch spec.ExecChunk) bool {
	for _, part := range ch.Parts {
		vn, ok := q.view.Vnode(part.Vnode)
		if !ok || !q.busy(vn) {
			continue
		}
		var sum resource.List
		some := false
		for i := range has {
			for _, p := range has[i].Parts {
				if stays[i] > 0 && p.Vnode == part.Vnode {
					some = true
					if more, err := resource.Add(sum, p.Items, q.view); err == nil {
						sum = more
					}
				}
			}
		}
		at := slices.IndexFunc(vn.Reserved, func(res state.Reserved) bool { return res.Reservation == q.ID })
		if !some || at >= 0 && resource.Fits(vn.Reserved[at].Used, sum, nil, q.view) != nil {
			return false
		}
	}
	return true
}

// denial says why an occurrence gets no vnodes.
func (q *question) denial(n int) string { return q.denialIn(func() *window { return q.window(n) }) }

func (q *question) denialIn(window func() *window) string {
	cl := q.class
	if short := q.overall(cl, beyondTotal); short != nil {
		q.unsatisfied(0)
		return insufficient + short.Resource + " "
	}
	for k, ch := range cl.chunks {
		if one := cl.alone(ch); !q.fitsAnywhere(one) {
			q.unsatisfied(k)
			return insufficient + q.lacking(one).Resource + " "
		}
	}
	open := window()
	open.reserve = false
	if placed, ok := q.bare.findWithin(cl, open); ok {
		q.logOf(pbs.LogDebug3, "Node", string(placed.Vnodes()[0]), notEligible)
		return notEligible
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

// fitsAnywhere tells whether a class fits if nothing runs.
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
