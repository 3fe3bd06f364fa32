package sched

import (
	"cmp"
	"slices"

	"rampart/fsm/state"
)

// A gatherer collects what can be kept for a job that waits.
type gatherer struct {
	cycle *cycle
	of    *class
	mode  mode
	left  []int64       // slots of each kind of chunk that are still wanted
	sets  map[int]*pset // where the chunks of a term may be; none: anywhere
	only  int           // the term of which chunks are looked at; 0: all are
	parts []state.Kept
}

func (c *cycle) gatherer(cl *class, m mode) *gatherer {
	g := &gatherer{cycle: c, of: cl, mode: m, left: make([]int64, len(cl.chunks))}
	for i := range cl.chunks {
		g.left[i] = times(cl.chunks[i].of(c.reserving.ncpus.Name), cl.chunks[i].count)
	}
	c.free.attempt()
	return g
}

// wanted returns how many slots are still wanted.
func (g *gatherer) wanted() (sum int64) {
	for i, n := range g.left {
		if g.only == 0 || g.of.chunks[i].term == g.only {
			sum = plus(sum, n)
		}
	}
	return sum
}

// all returns what was collected. A job of one slot keeps it with memory alone.
func (g *gatherer) all() []state.Kept {
	if g.mode.memory && g.of.slots() == 1 && (&state.Pending{Held: g.parts}).Mem() == 0 {
		return nil
	}
	return g.parts
}

// take takes of a host what it has free of what is wanted, and up to so many slots, and returns how many it took.
func (g *gatherer) take(h int, most int64) (k int64) {
	c, cl, r := g.cycle, g.of, g.cycle.reserving
	slots, mem := c.freeFor(h, cl, cl.chunks)
	slots = min(slots, most)
	spread := map[int]int64{} // by term: how many slots more a host may give to chunks that are apart
	var want int64
	for i := range cl.chunks {
		ch := &cl.chunks[i]
		per := ch.of(r.ncpus.Name)
		if per == 0 || g.left[i] == 0 || g.only != 0 && ch.term != g.only || !g.sets[ch.term].on(h) || !cl.single() && !c.serves(h, cl, cl.chunks[i:i+1], ch.needs) {
			continue
		}
		some := min(slots-k, g.left[i])
		alone := cl.apart() || ch.scatter
		room, rest := spread[ch.term]
		switch {
		case alone && rest && g.of.isRest(i): // of a chunk of the usual size this host has a part so far
			some = min(some, room)
		case alone && rest:
			continue
		case alone:
			some = min(some, per)
			spread[ch.term] = per - max(some, 0)
		case ch.full != nil:
			some = min(some, times(per, c.free.capOn(h, ch.full)))
		}
		if some <= 0 {
			continue
		}
		g.left[i], k = g.left[i]-some, k+some
		want += g.memory(ch, some, alone && rest)
	}
	if k == 0 {
		return 0
	}
	c.free.takesOn(h, cl.bounds, k)
	if mem = min(mem, want); !g.mode.memory {
		mem = 0
	}
	kept := c.onNodes(h, cl, k, mem-mem%megabyte)
	c.free.takesOf(h, cl.bounds, r.mem.Name, (&state.Pending{Held: kept}).Mem())
	g.parts = append(g.parts, kept...)
	return k
}

// memory returns how much is wanted with so many slots for chunks of a kind; more: the host has some for a chunk of the same job that
// it gives once, or that these are a part of.
func (g *gatherer) memory(ch *chunk, slots int64, more bool) int64 {
	r := g.cycle.reserving
	per, mem := ch.of(r.ncpus.Name), ch.of(r.mem.Name)
	switch {
	case ch.once(r.mem.Name):
		return mem
	case r.perSlot:
		return (times(mem, int(slots)) + per - 1) / per
	case more:
		return 0
	}
	return times(mem, int((slots+per-1)/per))
}

// isRest reports whether a kind of chunk is one that is smaller than those before it, and else as they are: what is left of the slots of a
// job that has so many on each host.
func (c *class) isRest(i int) bool {
	if i == 0 || c.chunks[i].count != 1 {
		return false
	}
	a, b := &c.chunks[i-1], &c.chunks[i]
	return a.term == b.term && b.of("ncpus") < a.of("ncpus") && a.host == b.host && a.vnode == b.vnode && slices.Equal(a.props, b.props)
}

// on takes of the hosts of a set, in the order that the class wants, and up to so many slots in all.
func (g *gatherer) on(s *pset, by *ordering, most int64) {
	for _, h := range g.cycle.free.inOrder(s.hosts, by) {
		if most <= 0 || g.wanted() == 0 {
			return
		}
		most -= g.take(h, most)
	}
}

// anywhere takes of all hosts, in the order that the class, or each term of it, wants.
func (g *gatherer) anywhere() {
	all := func(by *ordering) {
		for h := range g.cycle.free.through(by, g.cycle.reserving.oneSlot()) {
			if g.take(h, unbounded); g.wanted() == 0 {
				return
			}
		}
	}
	own := func(ch chunk) bool { return ch.by != nil }
	if !slices.ContainsFunc(g.of.chunks, own) {
		all(g.of.by)
		return
	}
	for i := range g.of.chunks {
		if g.only = g.of.chunks[i].term; g.wanted() > 0 {
			all(g.of.chunks[i].by)
		}
	}
	g.only = 0
}

// gatherOn takes slots, and memory with them, of the hosts of a set in their order; nil: of all.
func (c *cycle) gatherOn(cl *class, m mode, s *pset) []state.Kept {
	g := c.gatherer(cl, m)
	if s == nil {
		g.anywhere()
	} else {
		g.on(s, cl.by, unbounded)
	}
	return g.all()
}

// A keepingUnit is a compute unit with the slots of it that can be kept for a class now, and what it offers in all.
type keepingUnit struct {
	set          *pset
	now, offered int64
}

// gatherOver returns what can be kept for a job that may be over several compute units: of those where most can be kept, or, where these could
// never hold it, of the largest. It is of no more of them than the job may have, nor than it takes; of those that are too small for the slots
// that a job wants of each there is one at most; and where the job is to be balanced each keeps its share at most.
func (c *cycle) gatherOver(cl *class, m mode) (parts []state.Kept, from reach) {
	together := map[string][]keepingUnit{} // by what their hosts agree in beside the unit
	var order []string
	for _, s := range c.free.sets(cl.groups) {
		if together[s.rest] == nil {
			order = append(order, s.rest)
		}
		now := (&state.Pending{Held: c.gatherOn(cl, m, s)}).Slots()
		together[s.rest] = append(together[s.rest], keepingUnit{s, now, s.ncpus})
	}
	var most int64
	for _, rest := range order {
		chosen, share := cl.chooses(together[rest])
		g := c.gatherer(cl, m)
		var hosts []int
		for _, u := range chosen {
			g.on(u.set, cl.by, share)
			hosts = append(hosts, u.set.hosts...)
		}
		slices.Sort(hosts)
		if n := (&state.Pending{Held: g.all()}).Slots(); n > most {
			most, parts = n, g.all()
			from = reach{-1, (&pset{hosts: slices.Compact(hosts)}).on}
		}
	}
	return parts, from
}

// chooses returns the units of which something is kept, and how many slots of each at most.
func (c *class) chooses(units []keepingUnit) (chosen []keepingUnit, share int64) {
	byNow := func(a, b keepingUnit) int { return cmp.Compare(b.now, a.now) }
	slices.SortStableFunc(units, byNow)
	most := len(units)
	if c.units.Max > 0 {
		most = min(most, c.units.Max)
	}
	if c.units.Balance {
		return c.balanced(units, most)
	}
	wanted := c.slots()
	chosen, offered := c.usable(units, most)
	if offered < wanted {
		slices.SortStableFunc(units, func(a, b keepingUnit) int { return cmp.Compare(b.offered, a.offered) })
		if chosen, offered = c.usable(units, most); offered < wanted {
			return nil, 0
		}
		slices.SortStableFunc(chosen, byNow)
	}
	sum := int64(0)
	for k, u := range chosen {
		if sum += u.now; sum >= wanted {
			return chosen[:k+1], unbounded
		}
	}
	return chosen, unbounded
}

// usable returns the first ones of some units, of which one at most offers fewer slots than the job wants of each, and what they offer.
func (c *class) usable(units []keepingUnit, most int) (chosen []keepingUnit, offered int64) {
	small := false
	for _, u := range units {
		tooSmall := u.offered < int64(c.units.Usable)
		if len(chosen) == most || tooSmall && small {
			continue
		}
		small = small || tooSmall
		chosen, offered = append(chosen, u), plus(offered, u.offered)
	}
	return chosen, offered
}

// balanced is chooses for a job that wants as many chunks of each unit, or one less: over as many units as most can be kept of.
func (c *class) balanced(units []keepingUnit, most int) (chosen []keepingUnit, share int64) {
	total, per := c.total(), int64(0)
	for i := range c.chunks {
		per = max(per, c.chunks[i].of("ncpus"))
	}
	var best int64 = -1
	for k := 1; k <= min(most, total); k++ {
		each, more := times(per, total/k), total%k
		full := times(per, (total+k-1)/k)
		if k > 1 && each < int64(c.units.Usable) && (more < k-1 || full < int64(c.units.Usable)) {
			break
		}
		var some []keepingUnit
		var sum int64
		large := 0
		for _, u := range units {
			if u.offered < each || len(some) == k || len(some)-large == k-more && u.offered < full {
				continue
			}
			if u.offered >= full {
				large++
			}
			some, sum = append(some, u), plus(sum, min(u.now, full))
		}
		if len(some) == k && large >= more && sum > best {
			chosen, share, best = some, full, sum
		}
	}
	return chosen, share
}
