package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A future is what a cycle knows of times to come where there are reservations. The calendar of a vnode is read when it
// is first asked for.
type future struct {
	view   *state.View
	now    pbs.Time
	vnodes map[pbs.VnodeName]*foreseen
	pooled bool       // vnodes share amounts of others
	begins []pbs.Time // when reservations and top jobs begin that do not have their vnodes yet, sorted
	events []event    // by time, once they are sorted; nil: they were not needed yet
	sorted bool
	lefts  []left // runs that are taken to be gone

	places  map[*state.Reservation]spec.Place
	tooLong map[*class]conflict
	lasts   []*lasting // those that were used last come last
	used    *world     // of the last one
	scratch *world     // of later
}

// foreseen is the calendar of a vnode.
type foreseen struct {
	calendar.Vnode
	runs bool // they are in it
	busy bool // somebody is to get something of it, or of what it shares
}

// A conflict is why jobs of a class do not start that would last until a time, or longer.
type conflict struct {
	until pbs.Time
	why   state.Wait
}

// newFuture returns nil where there are no reservations.
func newFuture(v *state.View, now pbs.Time) *future {
	f := &future{view: v, now: now, vnodes: map[pbs.VnodeName]*foreseen{}, tooLong: map[*class]conflict{}, places: map[*state.Reservation]spec.Place{}}
	some := false
	for r := range v.Reservations() {
		some = true
		for n := range r.Occurrences {
			if from, until := r.Times(n); r.Occurrences[n].Nodes != "" && until > now && (n > 0 || !begun(r)) {
				f.begins = append(f.begins, max(from, now+1))
			}
		}
	}
	if !some {
		return nil
	}
	slices.Sort(f.begins)
	f.begins = slices.Compact(f.begins)
	for range v.Sharers() {
		f.pooled = true
		break
	}
	return f
}

// begun tells whether the present occurrence of a reservation has its vnodes.
func begun(r *state.Reservation) bool { return r.Started() || r.Running() }

// note notes when something begins.
func (f *future) note(at pbs.Time) {
	if i, ok := slices.BinarySearch(f.begins, at); !ok {
		f.begins = slices.Insert(f.begins, i, at)
	}
}

// end returns until when a job holds its vnodes that runs so long.
func (f *future) end(long pbs.Time) pbs.Time {
	if long >= unending {
		return calendar.Forever
	}
	return f.now + long
}

// before counts the times at which something begins before an end.
func (f *future) before(end pbs.Time) int {
	n, _ := slices.BinarySearch(f.begins, end)
	return n
}

// of returns the calendar of a vnode, with its runs only where somebody is to get something of it, or if all is wanted.
func (f *future) of(vn *state.Vnode, all bool) *foreseen {
	s := f.vnodes[vn.Name]
	if s == nil {
		s = &foreseen{}
		f.vnodes[vn.Name] = s
		f.read(s, vn, vn, false)
		f.shared(vn, func(other *state.Vnode) { f.read(s, vn, other, false) })
	}
	if !s.runs && (all || s.busy) {
		s.runs = true
		f.read(s, vn, vn, true)
		f.shared(vn, func(other *state.Vnode) { f.read(s, vn, other, true) })
	}
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
	add := func(h *calendar.Hold, items resource.List) {
		h.Items = f.amounts(vn, from, items)
		if vn != from {
			if len(h.Items) == 0 {
				return
			}
			h.Kind, h.Alone, h.Host = calendar.Suspended, false, false // it uses the other vnode
		}
		s.busy = s.busy || !runs
		s.Add(h)
	}
	if runs {
		for _, held := range from.Jobs {
			if held.Reservation == "" {
				h := f.runOf(from, held)
				add(&h, held.Items)
			}
		}
		return
	}
	for _, res := range from.Reserved {
		if r, ok := f.view.Reservation(res.Reservation); !ok || !begun(r) || len(r.Occurrences) == 0 {
			add(&calendar.Hold{Until: f.now + overtime, Kind: calendar.Reservation, By: string(res.Reservation), Alone: res.Exclusive}, res.Items)
		}
	}
	for p := range f.view.PromisesOf(from.Name) {
		if h, ok := f.promise(from, p); ok {
			add(&h, p.Items)
		}
	}
}

// runOf returns the hold of a run.
func (f *future) runOf(vn *state.Vnode, held state.VnodeJob) calendar.Hold {
	h := calendar.Hold{Until: calendar.Forever, Kind: calendar.Run, By: string(held.Job), Alone: held.Exclusive}
	j, ok := f.view.Job(held.Job)
	if held.Suspended {
		h.Kind = calendar.Suspended
		return h
	}
	if ok {
		h.Until, h.Host = f.endOf(j), held.Exclusive && vn.HostAloneFor(j.Placement())
	}
	return h
}

// endOf returns when a running job gives its vnodes back.
func (f *future) endOf(j *state.Job) pbs.Time {
	if walltime(j) >= unending {
		return calendar.Forever
	}
	return endOf(j, f.now)
}

// promise returns the hold of a reservation, false if it is over. What has begun is held as long as it is not given back,
// and what has not begun in its time is not held yet.
func (f *future) promise(vn *state.Vnode, p *state.Promise) (calendar.Hold, bool) {
	place := f.placement(p.Reservation)
	h := calendar.Hold{
		From: p.From, Until: p.Until, Kind: calendar.Reservation, By: string(p.Reservation.ID),
		Alone: p.Alone || vn.AloneFor(place), Host: p.Host || vn.HostAloneFor(place),
	}
	if p.Occurrence == 0 && begun(p.Reservation) {
		h.From, h.Until = min(h.From, f.now), f.atLast(h.Until)
		return h, true
	}
	h.From = max(h.From, f.now+1)
	return h, h.From < h.Until
}

// placement returns how a reservation wants to be placed. It is read once for all its vnodes.
func (f *future) placement(r *state.Reservation) spec.Place {
	place, known := f.places[r]
	if !known {
		place = r.Placement()
		f.places[r] = place
	}
	return place
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
			all = append(all, calendar.Amount{Resource: it.Name, Amount: measure(def, q, up)})
		}
	}
	return all
}

// add notes what somebody is to have of vnodes.
func (f *future) add(h calendar.Hold, placed spec.ExecVnode, place spec.Place) {
	for _, ch := range placed {
		for _, part := range ch.Parts {
			vn, ok := f.view.Vnode(part.Vnode)
			if !ok {
				continue
			}
			one := h
			one.Alone, one.Host = vn.AloneFor(place), vn.HostAloneFor(place)
			f.hold(vn, vn, one, part.Items)
			if f.pooled {
				for _, it := range part.Items {
					if target := f.view.Pool(vn, it.Name); target != nil && target.Name != vn.Name {
						one.Alone, one.Host = false, false
						f.hold(target, vn, one, resource.List{it})
					}
				}
			}
		}
	}
}

func (f *future) hold(vn, from *state.Vnode, h calendar.Hold, items resource.List) {
	s := f.of(vn, true)
	h.Items = f.amounts(vn, from, items)
	s.busy = s.busy || h.From > f.now
	s.Add(&h)
	if f.events != nil {
		f.foresee(vn.Name, &h)
	}
}

// drop takes away what a reservation is to have of vnodes, and returns it.
func (f *future) drop(r *state.Reservation, nodes spec.ExecVnode) (gone []left) {
	take := func(vn *state.Vnode) {
		s := f.of(vn, true)
		for _, h := range s.Take(func(h *calendar.Hold) bool { return h.Kind == calendar.Reservation && h.By == string(r.ID) }) {
			gone = append(gone, left{of: s, was: h})
		}
	}
	for _, ch := range nodes {
		for _, part := range ch.Parts {
			vn, ok := f.view.Vnode(part.Vnode)
			if !ok {
				continue
			}
			take(vn)
			if f.pooled {
				for _, it := range part.Items {
					if target := f.view.Pool(vn, it.Name); target != nil {
						take(target)
					}
				}
			}
		}
	}
	if len(gone) > 0 {
		f.events = nil
	}
	return gone
}

// A window is a time for the whole of which vnodes are wanted. While a world has one, each of its hosts has no more
// than what is free at every instant of it, from when it is first looked at.
type window struct {
	future      *future
	from, until pbs.Time
	// whole says that nothing is taken of the world; else it is as it will be at from, and only what is held later is missing.
	whole   bool
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

// look brings a host to what it is in the window; false: that has changed something.
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
	s := f.of(n.vnode, win.whole)
	if !win.whole && !s.busy && !f.pooled {
		return changed
	}
	users, alone, host := s.Use(win.from, win.until)
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
			of = f.of(w.nodes[at].vnode, win.whole)
		}
		by := of.Rise(c.def.Name, win.from, win.until)
		if win.whole {
			by = of.Held(c.def.Name, win.from, win.until)
		}
		if by = min(by, c.free[at]); by > 0 {
			c.add(i, -by)
			win.lowered = append(win.lowered, lowered{c, at, by})
			changed = true
		}
	}
	return changed
}

// sound tells whether the state of a vnode lets jobs run there.
func sound(vn *state.Vnode) bool { return vn.Flags == 0 && !vn.InMaintenance() }

// window returns what a job may have that starts now and lasts until an end; nil: nothing begins before.
func (f *future) window(end pbs.Time) *window {
	if f.before(end) == 0 {
		return nil
	}
	return &window{future: f, from: f.now, until: end}
}

// lasting is what jobs may have that start now and last until an end: free, less what others are to have before. It is
// kept while jobs are placed, and so each host is looked at once.
type lasting struct {
	world *world
	until pbs.Time
}

// mostLasting bounds the ends for which that is kept at a time.
const mostLasting = 8

// lasting returns what is free until an end. Nobody but findFor and undo may take of it: what changes in free is followed by touch.
func (f *future) lasting(free *world, end pbs.Time) *world {
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
		l = &lasting{}
		l.begin(f, free, end)
	}
	f.lasts = append(f.lasts, l)
	l.world.extra, f.used = free.extra, l.world
	return l.world
}

func (l *lasting) begin(f *future, free *world, end pbs.Time) {
	l.world, l.until = free.copyTo(l.world), end
	w := l.world
	if len(w.looked) < len(w.hosts) {
		w.looked = make([]int32, len(w.hosts))
	}
	w.looks++
	w.win = &window{future: f, from: f.now, until: end}
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
		for name, c := range w.columns {
			if from, ok := free.columns[name]; ok {
				c.free[i] = from.free[i]
			}
		}
	}
	w.looked[h] = 0
	w.reset(h)
}

// placeAhead is placeBeside where there are reservations: they, and top jobs, have what they are to have.
func (c *cycle) placeAhead(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok, fits bool) {
	f := c.future
	end := f.end(long)
	if known, met := f.tooLong[cl]; met && end >= known.until {
		return nil, false, true
	}
	if f.before(end) == 0 {
		placed, ok = c.free.placeFor(j, cl)
	} else if placed, ok = f.lasting(c.free, end).findFor(j, cl); ok {
		f.used.undo(placed)
		c.free.occupy(placed, cl)
	}
	if !ok {
		return nil, false, f.before(end) > 0 && c.conflicts(j, cl, end)
	}
	exclusive := c.free.isExclusive(placed, cl)
	f.add(calendar.Hold{From: c.now, Until: end, Kind: calendar.Run, By: string(j.ID)}, placed, cl.place)
	f.touch(c.free, placed.Vnodes())
	if c.calendar() {
		c.runs = append(c.runs, run{c.now + long, placed, exclusive})
	}
	return placed, true, true
}

// conflicts tells whether a job that does not fit would but for what others are to have, and notes what is to be said of it.
func (c *cycle) conflicts(j *state.Job, cl *class, end pbs.Time) bool {
	now, fits := c.free.find(cl)
	if !fits {
		return false
	}
	c.free.undo(now)
	why := reserved(cl)
	if slices.ContainsFunc(c.tops, func(t top) bool { return t.start < end }) {
		why = because(state.WaitTop)
	}
	c.future.tooLong[cl] = conflict{end, why}
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

// reserved says that reservations are to have what a class asks for.
func reserved(cl *class) state.Wait {
	if slices.ContainsFunc(cl.chunks, func(ch chunk) bool { return ch.host != "" || ch.vnode != "" }) {
		return because(state.WaitHost)
	}
	return because(state.WaitBusy)
}

// conflict returns what is said of a job that fits but for what others are to have.
func (c *cycle) conflict(cl *class) state.Wait {
	if c.future == nil {
		return because(state.WaitTop)
	}
	return c.future.tooLong[cl].why
}
