package sched

import (
	"slices"

	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// megabyte is what memory is kept in.
const megabyte = 1024

// slots returns how many slots the class asks for.
func (c *class) slots() int64 { return c.sum("ncpus") }

func (c *class) sum(name string) int64 {
	for _, n := range c.sums {
		if n.def.Name == name {
			return n.amount
		}
	}
	return 0
}

func (ch *chunk) of(name string) int64 {
	for _, n := range ch.needs {
		if n.def.Name == name {
			return n.amount
		}
	}
	return 0
}

// single reports whether all of a class has to be on one host.
func (c *class) single() bool { return c.place.Arrangement == spec.Pack || c.total() == 1 }

// apart reports whether each chunk has a host of its own.
func (c *class) apart() bool {
	return c.place.Arrangement == spec.Scatter || c.place.Arrangement == spec.VScatter
}

// passesGate reports whether a job could be placed if all slots were free, and all memory where that is kept with them: it must be
// slots that it waits for (specification: reservation section 6.3).
func (c *cycle) passesGate(j *state.Job, cl *class, m mode) bool {
	r := c.reserving
	passes, known := r.passes[lot{cl, j.Queue}]
	if !known {
		passes = true
		if slices.ContainsFunc(cl.sums, func(n need) bool { return !r.keepable(n, m) }) {
			_, passes = c.gate(m).fits(cl)
		}
		r.passes[lot{cl, j.Queue}] = passes
	}
	return passes
}

// keepable reports whether a need is kept for jobs that wait.
func (r *reserving) keepable(n need, m mode) bool {
	return n.def.Name == r.ncpus.Name || m.memory && n.def.Name == r.mem.Name
}

// gate returns the world in which all slots are free.
func (c *cycle) gate(m mode) *world {
	r := c.reserving
	g := r.gates[m.memory]
	if g != nil {
		return g
	}
	g = c.free.copyTo(nil)
	g.slots = slotUse{}
	full := []*column{g.column(r.ncpus)}
	if m.memory {
		full = append(full, g.column(r.mem))
	}
	for _, col := range full {
		copy(col.free, col.total)
	}
	for h := range g.hosts {
		host := &g.hosts[h]
		host.shut, host.jobs, host.held = false, 0, 0
		for _, i := range host.nodes {
			n := &g.nodes[i]
			n.jobs, n.held, n.alone, n.usable = 0, 0, false, sound(n.vnode)
		}
		g.reset(h)
	}
	r.gates[m.memory] = g
	return g
}

// greedy has a job keep what is free now of what it asks for, wherever that is (specification: reservation section 6.4), and tells when
// it may start at the earliest.
func (c *cycle) greedy(w *waiter, cl *class, m mode) {
	r := c.reserving
	if r.spent[lot{cl, w.job.Queue}] {
		return
	}
	parts, from := c.gather(cl, m)
	if len(parts) == 0 {
		r.spent[lot{cl, w.job.Queue}] = true
		return
	}
	c.keeps(w, cl, parts, c.soonest(cl, m, parts, from))
	if g := r.gates[false]; g != nil {
		r.closes(g, r.keeps[len(r.keeps)-1].placed)
	}
}

// gather returns what can be kept for a job of a class, and the hosts of the group that it is taken from.
func (c *cycle) gather(cl *class, m mode) (parts []state.Kept, from reach) {
	switch {
	case cl.single():
		h := c.bestHost(cl, m)
		if h < 0 {
			return nil, reach{}
		}
		g := c.gatherer(cl, m)
		g.take(h, unbounded)
		return g.all(), reach{host: h}
	case cl.units != nil:
		return c.gatherOver(cl, m)
	case cl.agree != nil:
		return c.gatherTerms(cl, m)
	case cl.groups.own && len(cl.groups.defs) > 0:
		return c.gatherIn(cl, m)
	}
	return c.gatherOn(cl, m, nil), reach{-1, func(int) bool { return true }}
}

// gatherIn returns what can be kept of the placement set of which most can be, of those that could hold the job: of several the one that
// has the first host in the order of the class.
func (c *cycle) gatherIn(cl *class, m mode) (parts []state.Kept, from reach) {
	var most int64
	var best []*pset
	kept := map[*pset][]state.Kept{}
	for _, s := range c.free.sets(cl.groups) {
		if c.holdsIn(s, cl, cl.chunks) < cl.slots() {
			continue
		}
		kept[s] = c.gatherOn(cl, m, s)
		switch n := (&state.Pending{Held: kept[s]}).Slots(); {
		case n == 0 || n < most:
		case n > most:
			most, best = n, []*pset{s}
		default:
			best = append(best, s)
		}
	}
	if len(best) == 0 {
		return nil, reach{}
	}
	first := slices.MinFunc(best, func(a, b *pset) int { return c.free.rankIn(cl.by, a.hosts) - c.free.rankIn(cl.by, b.hosts) })
	return kept[first], reach{-1, first.on}
}

// holdsIn returns how many slots a set has in all for some chunks, of which a host takes no more than one where they are to be apart.
func (c *cycle) holdsIn(s *pset, cl *class, chunks []chunk) int64 {
	if !cl.apart() && !chunks[0].scatter {
		return s.ncpus
	}
	var per, sum int64
	for i := range chunks {
		per = max(per, chunks[i].of("ncpus"))
	}
	total := c.free.column(c.reserving.ncpus).total
	for _, h := range s.hosts {
		var has int64
		for _, i := range c.free.hosts[h].nodes {
			has = plus(has, total[i])
		}
		sum = plus(sum, min(has, per))
	}
	return sum
}

// oneSlot is the need of a host that may keep anything.
func (r *reserving) oneSlot() []need { return []need{{r.ncpus, 1}} }

// bestHost returns the host that is to keep something for a job that has to be on one host, -1 if none can: that with the most
// memory for it, or else the most slots.
func (c *cycle) bestHost(cl *class, m mode) int {
	r := c.reserving
	best, enough, least := -1, cl.slots(), r.oneSlot()
	c.free.attempt()
	better := &least[0] // each host that is looked at beats the best one so far: most are passed over
	if m.memory {
		least, enough = append(least, need{r.mem, 0}), cl.sum(r.mem.Name)
		better = &least[1]
		if cl.slots() == 1 {
			better.amount = megabyte
		}
	}
	grouped := c.groupedHosts(cl)
	for h := range c.free.through(cl.by, least) {
		if !grouped.on(h) || !c.serves(h, cl, cl.chunks, cl.sums) {
			continue
		}
		slots, value := c.freeFor(h, cl, cl.chunks)
		if slots == 0 {
			continue
		}
		if !m.memory {
			value = slots
		}
		if value < better.amount {
			continue
		}
		if best = h; value >= enough {
			return best
		}
		better.amount = value + 1
	}
	return best
}

// groupedHosts returns the hosts of all the sets that a class has asked for, nil where it has asked for none.
func (c *cycle) groupedHosts(cl *class) *pset {
	if !cl.groups.own || len(cl.groups.defs) == 0 {
		return nil
	}
	all := &pset{}
	for _, s := range c.free.grouped(cl.groups) {
		all.hosts = append(all.hosts, s.hosts...)
	}
	slices.Sort(all.hosts)
	all.hosts = slices.Compact(all.hosts)
	return all
}

// onNodes parts what a host keeps among its vnodes.
func (c *cycle) onNodes(h int, cl *class, slots, mem int64) (parts []state.Kept) {
	r := c.reserving
	ncpus, memory := c.free.column(r.ncpus), c.free.column(r.mem)
	for _, i := range c.free.hosts[h].nodes {
		if slots == 0 || !c.lends(i, cl, cl.chunks) {
			continue
		}
		k := state.Kept{Vnode: c.free.nodes[i].vnode.Name, Slots: min(slots, max(0, ncpus.left(i))), Mem: min(mem, max(0, memory.left(i)))}
		k.Mem -= k.Mem % megabyte
		if k.Slots == 0 {
			continue
		}
		slots, mem = slots-k.Slots, mem-k.Mem
		parts = append(parts, k)
	}
	return parts
}

// lends reports whether a vnode may serve one of some chunks.
func (c *cycle) lends(i int, cl *class, chunks []chunk) bool {
	n := &c.free.nodes[i]
	if !n.usable || c.free.hosts[n.host].shut {
		return false
	}
	return slices.ContainsFunc(chunks, func(ch chunk) bool {
		return (ch.vnode == "" || n.vnode.Name == ch.vnode) && c.free.open(n, cl) && c.free.hasProps(i, ch)
	})
}

// freeFor returns what a host has free for some chunks.
func (c *cycle) freeFor(h int, cl *class, chunks []chunk) (slots, mem int64) {
	r := c.reserving
	ncpus, memory := c.free.column(r.ncpus), c.free.column(r.mem)
	for _, i := range c.free.hosts[h].nodes {
		if c.lends(i, cl, chunks) {
			slots, mem = slots+max(0, ncpus.left(i)), mem+max(0, memory.left(i))
		}
	}
	allowed, _ := c.free.allowed(h, cl.bounds)
	memAllowed, _ := c.free.allowedOf(h, cl.bounds, r.mem.Name)
	return min(slots, max(0, allowed)), min(mem, max(0, memAllowed))
}

// serves reports whether a host could have what some chunks need, if nothing ran there, and has now what is not kept for jobs.
func (c *cycle) serves(h int, cl *class, chunks []chunk, needs []need) bool {
	r := c.reserving
	if named, ok := c.free.namedBy(chunks[0]); !ok || named >= 0 && named != h {
		return false
	}
	for _, ch := range chunks {
		if !slices.ContainsFunc(c.free.hosts[h].nodes, func(i int) bool { return c.lends(i, cl, []chunk{ch}) }) {
			return false
		}
	}
	for _, n := range needs {
		col := c.free.column(n.def)
		var sum int64
		for _, i := range c.free.hosts[h].nodes {
			switch {
			case !c.lends(i, cl, chunks):
			case n.def.Name == r.ncpus.Name, n.def.Name == r.mem.Name:
				sum = plus(sum, col.total[i])
			default:
				sum = plus(sum, col.left(i))
			}
		}
		if sum < n.amount {
			return false
		}
	}
	return true
}
