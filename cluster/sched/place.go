package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// placeFor gives the class vnodes for a job, of the first host on which all of it fits, else of several: if there is room elsewhere, not those of hosts that have
// failed to start it.
func (w *world) placeFor(j *state.Job, c *class) (spec.ExecVnode, bool) {
	placed, ok := w.findFor(j, c)
	if !ok {
		return nil, false
	}
	w.settle(c)
	return placed, true
}

// findFor takes what a job needs, as placeFor does.
func (w *world) findFor(j *state.Job, c *class) (spec.ExecVnode, bool) {
	if len(j.Avoid) > 0 {
		w.avoid = j.Avoid
		placed, ok := w.find(c)
		w.avoid = nil
		if ok {
			return placed, true
		}
	}
	return w.find(c)
}

// fits returns the host on which all of the class fits, -1 when it takes several, and takes
// nothing.
func (w *world) fits(c *class) (int, bool) {
	placed, ok := w.find(c)
	if !ok {
		return 0, false
	}
	w.undo(placed)
	if len(w.touched) > 1 {
		return -1, true
	}
	return w.touched[0], true
}

// find takes what the class needs; the hosts that it is on are the touched ones.
func (w *world) find(c *class) (spec.ExecVnode, bool) {
	w.foundIn, w.best = "", w.bestFirst(c.by)
	defer func() { w.best = nil }()
	switch {
	case c.bad != "":
		return nil, false
	case len(c.groups.defs) > 0:
		return w.findGrouped(c)
	}
	return w.findIn(c)
}

// findIn finds room in the present placement set, or anywhere.
func (w *world) findIn(c *class) (spec.ExecVnode, bool) {
	if c.place.Arrangement == spec.Pack || c.total() == 1 {
		return w.onOne(c)
	}
	return w.onSeveral(c)
}

// onOne finds the first host on which all of the class fits.
func (w *world) onOne(c *class) (spec.ExecVnode, bool) {
	only, ok := w.named(c)
	if !ok {
		return nil, false
	}
	if w.lone > 0 {
		if h := w.lone - 1; only < 0 && w.suffices(h, c.sums) || only == h {
			return w.try(h, c)
		}
		return nil, false
	}
	if only >= 0 {
		w.rankAgain()
		return w.try(only, c)
	}
	for h := range w.having(c.sums) {
		if placed, ok := w.try(h, c); ok {
			return placed, true
		}
	}
	return nil, false
}

// attempt starts a new attempt to place a class.
func (w *world) attempt() {
	w.tried++
	w.touched, w.slots.took = w.touched[:0], w.slots.took[:0]
}

// mark notes that the attempt has taken of a vnode.
func (w *world) mark(i int) {
	n := &w.nodes[i]
	n.mine = w.tried
	if h := &w.hosts[n.host]; h.mine != w.tried {
		h.mine = w.tried
		w.touched = append(w.touched, n.host)
	}
}

// named returns the host that the class names by host= or vnode=, -1 if it names
// none; false if it names two, or one that is not there.
func (w *world) named(c *class) (int, bool) {
	only := -1
	for _, ch := range c.chunks {
		h, ok := w.namedBy(ch)
		if !ok || (only >= 0 && h >= 0 && h != only) {
			return 0, false
		}
		only = max(only, h)
	}
	return only, true
}

func (w *world) namedBy(ch chunk) (int, bool) {
	if ch.vnode != "" {
		i, ok := w.byVnode[ch.vnode]
		if !ok {
			return 0, false
		}
		return w.nodes[i].host, true
	}
	if ch.host != "" {
		return w.hostCalled(ch.host)
	}
	return -1, true
}

// hostCalled finds the host whose vnodes call it so, else the only one of the mom of that name.
func (w *world) hostCalled(name string) (int, bool) {
	if h, ok := w.byHost[hostKey{pbs.HostName(name), name}]; ok {
		return h, true
	}
	only := -1
	for h := range w.hosts {
		switch key := w.hosts[h].key; {
		case key.word == name:
			return h, true
		case key.mom != pbs.HostName(name):
		case only >= 0:
			only = len(w.hosts) // it has several
		default:
			only = h
		}
	}
	return only, only >= 0 && only < len(w.hosts)
}

// next returns the first host from h on that has enough of everything, added up
// over its vnodes, and is in the present placement set; -1 if there is none.
func (w *world) next(h int, needs []need) int {
	if w.set != nil {
		return w.nextIn(w.set, h, needs)
	}
	for {
		at := h
		for _, s := range needs {
			if at = w.column(s.def).next(at, s.amount); at < 0 {
				return -1
			}
		}
		if at >= len(w.hosts) {
			return -1
		}
		if at == h && w.look(h) {
			return h
		}
		h = at
	}
}

// try places all chunks on one host, or leaves it as it was.
func (w *world) try(h int, c *class) (spec.ExecVnode, bool) {
	w.attempt()
	placed := make(spec.ExecVnode, 0, c.total())
	for _, ch := range c.chunks {
		if n := w.fill(h, c, ch, ch.count, &placed); n < ch.count {
			w.undo(placed)
			return nil, false
		}
	}
	return placed, true
}

// fill places up to count chunks of one kind on a host and returns how many.
func (w *world) fill(h int, c *class, ch chunk, count int, placed *spec.ExecVnode) int {
	w.look(h)
	from := 0
	ch.needs = ch.needsOn(w, h)
	allowed, slots := int64(unbounded), ch.of("ncpus")
	if c.bounds != nil {
		allowed, _ = w.allowed(h, c.bounds)
	}
	for n := range count {
		if allowed -= slots; allowed < 0 {
			return n
		}
		if ch.lasting && w.carries(h, ch.term) {
			ch.needs, ch.lasting, from = ch.again, false, 0
		}
		if w.overAmount(h, c.bounds, ch.needs) != nil {
			return n
		}
		var parts []spec.ExecPart
		if parts, from = w.whole(h, c, ch, from); parts == nil && c.place.Arrangement != spec.VScatter {
			parts = w.split(h, c, ch)
		}
		if parts == nil {
			return n
		}
		w.hosts[h].term = ch.term
		*placed = append(*placed, spec.ExecChunk{Parts: parts})
		w.takesOn(h, c.bounds, slots)
		w.takesAmounts(h, c.bounds, ch.needs)
	}
	return count
}

// carries reports whether the attempt has placed a chunk of a term on a host; those of one term are placed one after the other.
func (w *world) carries(h, term int) bool {
	return w.hosts[h].mine == w.tried && w.hosts[h].term == term
}

// whole takes a chunk from one vnode, the first that has it from the place on
// where the last one like it was found.
func (w *world) whole(h int, c *class, ch chunk, from int) ([]spec.ExecPart, int) {
	nodes := w.hosts[h].nodes
	for at := from; at < len(nodes); at++ {
		i := nodes[at]
		if !w.serves(i, c, ch) || !w.holds(i, ch) {
			continue
		}
		w.mark(i)
		return []spec.ExecPart{w.take(i, ch.needs)}, at
	}
	return nil, len(nodes)
}

// serves reports whether a vnode may give something to a chunk.
func (w *world) serves(i int, c *class, ch chunk) bool {
	n := &w.nodes[i]
	if !w.open(n, c) || (ch.vnode != "" && n.vnode.Name != ch.vnode) || !w.set.has(i) {
		return false
	}
	if c.place.Arrangement == spec.VScatter && n.mine == w.tried {
		return false
	}
	return w.hasProps(i, ch)
}

// hasProps reports whether a vnode has the properties that a chunk asks for.
func (w *world) hasProps(i int, ch chunk) bool {
	for _, p := range ch.props {
		offer, ok := w.nodes[i].offer.Get(p.def.Name)
		if !resource.Matches(p.def, p.want, offer, ok) {
			return false
		}
	}
	return ch.where == nil || w.meets(w.nodes[i].host, ch.where)
}

func (w *world) holds(i int, ch chunk) bool {
	for _, n := range ch.needs {
		if w.column(n.def).left(i) < n.amount {
			return false
		}
	}
	return true
}

// split takes a chunk from several vnodes of the host, in their order.
func (w *world) split(h int, c *class, ch chunk) []spec.ExecPart {
	rest := make([]need, len(ch.needs))
	copy(rest, ch.needs)
	var parts []spec.ExecPart
	var from []int
	for _, i := range w.hosts[h].nodes {
		if !w.serves(i, c, ch) {
			continue
		}
		share := w.share(i, rest)
		if len(share) == 0 {
			continue
		}
		if len(parts) == 0 {
			share = append(share, nothings(ch)...)
		}
		from = append(from, i)
		parts = append(parts, w.take(i, share))
	}
	for _, n := range rest {
		if n.amount > 0 {
			w.undo(spec.ExecVnode{{Parts: parts}})
			return nil
		}
	}
	if len(parts) == 0 {
		return nil
	}
	for k, i := range from {
		w.mark(i)
		if len(parts) > 1 { // as in PBS (specification: ramp-down section 5)
			slices.Reverse(parts[k].Items)
		}
	}
	return parts
}

// nothings returns the needs of a chunk that ask for none of a resource: they stand in its first part.
func nothings(ch chunk) []need {
	var none []need
	for _, n := range ch.needs {
		if n.amount == 0 {
			none = append(none, n)
		}
	}
	return none
}

// share returns what a vnode can give of the rest, and lowers the rest by it.
func (w *world) share(i int, rest []need) []need {
	var share []need
	for k, n := range rest {
		if some := min(n.amount, w.column(n.def).left(i)); some > 0 {
			share = append(share, need{n.def, some})
			rest[k].amount -= some
		}
	}
	return share
}

func (w *world) take(i int, needs []need) spec.ExecPart {
	part := spec.ExecPart{Vnode: w.nodes[i].vnode.Name, Items: make(resource.List, 0, len(needs))}
	for _, n := range needs {
		w.column(n.def).add(i, -n.amount)
		part.Items = append(part.Items, resource.Item{Name: n.def.Name, Value: text(n.def, n.amount)})
	}
	return part
}

// undo gives back what was taken.
func (w *world) undo(placed spec.ExecVnode) { w.change(placed, 1) }

// settle makes the attempt final: its vnodes have one job more, and none for
// others if it wants them for itself.
func (w *world) settle(c *class) {
	for _, h := range w.touched {
		w.settleOn(h, c)
	}
	w.settleSlots(c.bounds)
}

func (w *world) settleOn(h int, c *class) {
	for _, i := range w.hosts[h].nodes {
		n := &w.nodes[i]
		if n.mine != w.tried {
			continue
		}
		n.jobs++
		w.hosts[h].jobs++
		w.note(n, c)
		w.settleIn(n, c)
	}
	w.reset(h)
}

// settleIn keeps a vnode, and its host, from others if a job of the class that was placed there has it to itself.
func (w *world) settleIn(n *node, c *class) {
	n.alone = n.alone || n.vnode.AloneFor(c.place)
	n.usable = n.usable && !n.alone
	w.hosts[n.host].shut = w.hosts[n.host].shut || n.vnode.HostAloneFor(c.place)
}
