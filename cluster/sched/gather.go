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
	var want int64
	for i := range cl.chunks {
		ch := &cl.chunks[i]
		per := ch.of(r.ncpus.Name)
		if per == 0 || g.left[i] == 0 || g.only != 0 && ch.term != g.only || !g.sets[ch.term].on(h) || !cl.single() && !c.serves(h, cl, cl.chunks[i:i+1], ch.needs) {
			continue
		}
		some := min(slots-k, g.left[i])
		if cl.apart() || ch.scatter {
			some = min(some, per)
		} else if ch.full != nil {
			some = min(some, times(per, c.free.capOn(h, ch.full)))
		}
		if some <= 0 {
			continue
		}
		g.left[i], k = g.left[i]-some, k+some
		if chunks := (some + per - 1) / per; ch.once(r.mem.Name) {
			want += ch.of(r.mem.Name)
		} else {
			want += chunks * ch.of(r.mem.Name)
		}
		if cl.apart() {
			break
		}
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

// on takes of some hosts, the first ones first, and up to so many slots in all.
func (g *gatherer) on(hosts []int, most int64) {
	for _, h := range hosts {
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

// gatherOn takes slots, and memory with them, of hosts in their order; nil: of all.
func (c *cycle) gatherOn(cl *class, m mode, hosts []int) []state.Kept {
	g := c.gatherer(cl, m)
	if hosts == nil {
		g.anywhere()
	} else {
		g.on(hosts, unbounded)
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
		now := (&state.Pending{Held: c.gatherOn(cl, m, s.hosts)}).Slots()
		together[s.rest] = append(together[s.rest], keepingUnit{s, now, s.ncpus})
	}
	var most int64
	for _, rest := range order {
		chosen, share := cl.chooses(together[rest])
		g := c.gatherer(cl, m)
		var hosts []int
		for _, u := range chosen {
			g.on(u.set.hosts, share)
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
