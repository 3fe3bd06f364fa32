package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A window is a time for the whole of which vnodes are wanted. While a world has one, each of its hosts has no more
// than what is free at every instant of it, from when it is first looked at. What reservations are to have counts until the last end of
// its span, and what top jobs are to have until the expected one; 0: it does not count.
type window struct {
	future *future
	from   pbs.Time
	span
	// whole says that nothing is taken of the world; else it is as it will be at from, and only what is held later is missing.
	whole bool
	// likely counts runs as gone that are expected to end until from; else only runs that end until then at the latest.
	likely  bool
	reserve bool // for a new reservation: not on vnodes that are not for that
	anyway  bool // whatever state the vnodes are in

	lowered []lowered
	held    []int // nodes that have somebody more
	barred  []int // nodes that were usable but for who has them for himself
	shut    []int // hosts that were open but for that
	dirty   []int // hosts that have changed
}

// lowered is an amount that a node does not have for the whole time.
type lowered struct {
	column *column
	at     int
	by     int64
}

// within does something in a world that is as it is in a window; nil: as it is.
func (w *world) within(win *window, do func()) {
	if win == nil {
		do()
		return
	}
	if len(w.looked) < len(w.hosts) {
		w.looked = make([]int32, len(w.hosts))
	}
	w.looks++
	w.win = win
	do()
	w.win = nil
	for _, l := range win.lowered {
		l.column.free[l.at] += l.by
		l.column.moved = l.column.moved || l.column.pools != nil && l.column.pools.shared[l.at]
	}
	for _, i := range win.held {
		w.nodes[i].held--
		w.hosts[w.nodes[i].host].held--
	}
	for _, i := range win.barred {
		w.nodes[i].usable = true
	}
	for _, h := range win.shut {
		w.hosts[h].shut = false
	}
	for _, h := range win.dirty {
		w.reset(h)
	}
}

// look brings a host to its state in the window; false: that has changed something.
func (w *world) look(h int) bool {
	if w.win == nil || w.looked[h] == w.looks {
		return true
	}
	w.looked[h] = w.looks
	win, changed := w.win, false
	for _, i := range w.hosts[h].nodes {
		changed = w.lookAt(win, i) || changed
	}
	if changed {
		win.dirty = append(win.dirty, h)
		w.reset(h)
	}
	return !changed
}

func (w *world) lookAt(win *window, i int) (changed bool) {
	n := &w.nodes[i]
	if n.usable && !win.anyway && (win.whole && !sound(n.vnode) || win.reserve && n.vnode.Unreserved) {
		n.usable, changed = false, true
		win.barred = append(win.barred, i)
	}
	f := win.future
	s := f.at(w, i, win.whole)
	if !win.whole && !s.busy && !f.pooled {
		return changed
	}
	users, alone, host := win.use(&s.Vnode)
	if users > 0 {
		n.held++
		w.hosts[n.host].held++
		win.held = append(win.held, i)
	}
	if alone && n.usable {
		n.usable, changed = false, true
		win.barred = append(win.barred, i)
	}
	if host && !w.hosts[n.host].shut {
		w.hosts[n.host].shut, changed = true, true
		win.shut = append(win.shut, n.host)
	}
	for _, c := range w.columns {
		at := c.at(i)
		if at < 0 || c.pools != nil && slices.ContainsFunc(win.lowered, func(l lowered) bool { return l.column == c && l.at == at }) {
			continue
		}
		of := s
		if at != i {
			of = f.at(w, at, win.whole)
		}
		if by := min(win.missing(&of.Vnode, c.def.Name), c.free[at]); by > 0 {
			c.add(i, -by)
			win.lowered = append(win.lowered, lowered{c, at, by})
			changed = true
		}
	}
	return changed
}

// count returns what counts until the last end.
func (win *window) count() calendar.Count {
	if win.likely {
		return calendar.Likely
	}
	return calendar.Certain
}

// plans reports whether what top jobs are to have of a vnode makes a difference.
func (win *window) plans(v *calendar.Vnode) bool {
	return win.expected > win.from && (!v.Alike() || win.expected > win.last)
}

// use is Vnode.Use for the window.
func (win *window) use(v *calendar.Vnode) (users int, alone, host bool) {
	users, alone, host = v.UseOf(win.count(), win.from, win.last)
	if win.plans(v) {
		u, a, h := v.UseOf(calendar.Planned, win.from, win.expected)
		users, alone, host = max(users, u), alone || a, host || h
	}
	return users, alone, host
}

// missing returns what a vnode does not have for the whole of the window. What is held at its beginning the world has given away, to top
// jobs, too.
func (win *window) missing(v *calendar.Vnode, resource string) int64 {
	most := v.HeldOf(win.count(), resource, win.from, win.last)
	if win.plans(v) {
		most = max(most, v.HeldOf(calendar.Planned, resource, win.from, win.expected))
	}
	if !win.whole {
		most -= v.HeldOf(win.count()|calendar.Planned, resource, win.from, win.from+1)
	}
	return most
}

// sound reports whether the state of a vnode lets jobs run there, now or once its host has less to do.
func sound(vn *state.Vnode) bool { return !vn.Lost() && !vn.InMaintenance() }

// idleEnough reports whether the state of a vnode lets jobs start there now.
func idleEnough(vn *state.Vnode) bool { return sound(vn) && vn.Flags&state.VnodeBusy == 0 }

// window returns what a job may have that starts now and lasts until an end; nil: nothing begins before.
func (f *future) window(end span) *window {
	if f.before(end) == (met{}) {
		return nil
	}
	return &window{future: f, from: f.now, span: end}
}

// lasting holds what jobs may have that start now and last until an end: free, less what others are to have before. It is
// kept while jobs are placed, and so each host is looked at once.
type lasting struct {
	world *world
	until span
}

// mostLasting bounds the ends for which that is kept at a time.
const mostLasting = 8

// lasting returns what is free until an end. Nobody but findFor and undo may take of it: what changes in free is followed by touch.
func (f *future) lasting(free *world, end span) *world {
	n := f.before(end)
	at := slices.IndexFunc(f.lasts, func(l *lasting) bool { return f.before(l.until) == n })
	var l *lasting
	switch {
	case at >= 0:
		l = f.lasts[at]
		f.lasts = slices.Delete(f.lasts, at, at+1)
	case len(f.lasts) == mostLasting:
		l = f.lasts[0]
		f.lasts = slices.Delete(f.lasts, 0, 1)
		l.begin(f, free, end)
	default:
		l = f.kept.lasting()
		l.begin(f, free, end)
	}
	f.lasts = append(f.lasts, l)
	l.world.extra, f.used = free.extra, l.world
	l.world.slots.extra = free.slots.extra
	return l.world
}

func (l *lasting) begin(f *future, free *world, end span) {
	l.world, l.until = free.copyTo(l.world), end
	w := l.world
	if len(w.looked) < len(w.hosts) {
		w.looked = make([]int32, len(w.hosts))
	}
	w.looks++
	w.win = &window{future: f, from: f.now, span: end}
}

// touch brings hosts up to what is free there now, and to what others are to have.
func (f *future) touch(free *world, vnodes []pbs.VnodeName) {
	if f == nil || len(f.lasts) == 0 {
		return
	}
	if f.pooled { // more hosts than these have changed
		f.lasts = nil
		return
	}
	done := -1
	for _, name := range vnodes {
		i, ok := free.byVnode[name]
		if !ok || free.nodes[i].host == done {
			continue
		}
		done = free.nodes[i].host
		for _, l := range f.lasts {
			l.follow(free, done)
		}
	}
}

// follow makes a host what it is in another world, to be looked at anew.
func (l *lasting) follow(free *world, h int) {
	w := l.world
	to, from := &w.hosts[h], &free.hosts[h]
	to.shut, to.jobs, to.held = from.shut, from.jobs, from.held
	for _, i := range to.nodes {
		n, now := &w.nodes[i], &free.nodes[i]
		n.usable, n.jobs, n.held, n.alone = now.usable, now.jobs, now.held, now.alone
		for _, c := range w.columns {
			if from := free.columns.of(c.def.Name); from != nil {
				c.free[i] = from.free[i]
			}
		}
	}
	w.looked[h] = 0
	w.reset(h)
}

// placeAhead is placeBesideTops by the calendar: reservations, and top jobs, have what they are to have. A job that waits for those must
// not use what they are to have, however short it is.
func (c *cycle) placeAhead(j *state.Job, cl *class, long pbs.Time, waits bool) (placed spec.ExecVnode, ok, fits bool) {
	f := c.future
	is := f.end(j, long)
	end := is
	if waits {
		end.expected = calendar.Forever
	}
	if f.tooLong[cl].stops(end) {
		return nil, false, true
	}
	promised := f.before(end) != (met{})
	if !promised {
		placed, ok = c.free.placeFor(j, cl)
	} else if placed, ok = f.lasting(c.free, end).findFor(j, cl); ok {
		f.used.undo(placed)
		c.free.occupy(placed, cl)
	}
	if !ok {
		return nil, false, promised && c.conflicts(j, cl, end)
	}
	c.ends = is.expected
	f.add(holdOf(calendar.Run, j, c.now, is), placed, cl.place)
	f.touch(c.free, placed.Vnodes())
	return placed, true, true
}

// stops reports whether a job does not start that lasts until an end.
func (k conflict) stops(end span) bool {
	return k.until != (span{}) && end.last >= k.until.last && end.expected >= k.until.expected
}

// conflicts reports whether a job that does not fit would but for what others are to have, and notes what is to be said of it.
func (c *cycle) conflicts(j *state.Job, cl *class, end span) bool {
	now, fits := c.free.find(cl)
	if !fits {
		return false
	}
	c.free.undo(now)
	if !c.planner.rows.all() {
		return true // what is said, and known of the class, is of all hosts
	}
	why := c.reserved(cl)
	if c.future.before(end).jobs > 0 {
		why = because(state.WaitTop)
	}
	c.future.tooLong[cl], cl.late = conflict{end, why}, c.planner.cycle
	c.logOf(pbs.LogDebug3, "Node", string(now.Vnodes()[0]), because(state.WaitTop).Text())
	c.log(pbs.LogSched, j.ID, because(state.WaitTop).Text())
	return true
}

// findWithin finds room for a class in a window, and takes nothing.
func (w *world) findWithin(cl *class, win *window) (placed spec.ExecVnode, ok bool) {
	w.within(win, func() {
		if placed, ok = w.find(cl); ok {
			w.undo(placed)
		}
	})
	return placed, ok
}

// reserved says that reservations are to have what a class asks for, as PBS says it: of chunks that are scattered that hosts are
// missing, of a chunk that names its host what the last of the other hosts lacks, and else what is wrong with the vnodes.
func (c *cycle) reserved(cl *class) state.Wait {
	named := func(ch chunk) bool { return ch.host != "" || ch.vnode != "" }
	switch {
	case cl.place.Arrangement == spec.Scatter:
		return because(state.WaitBusy)
	case len(c.free.hosts) > 1 && slices.ContainsFunc(cl.chunks, named):
		return because(state.WaitHost)
	}
	return because(state.WaitTop)
}
