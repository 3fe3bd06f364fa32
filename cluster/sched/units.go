package sched

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// What a requirement of LSF says of groups of hosts beyond one resource in which all of a job's hosts agree: several of these, a compute unit
// to itself, or several compute units (specification: reservation section 2.1, rule 12).

// agreeing makes the sets of nodes that have the same values of all of some resources.
func (w *world) agreeing(defs []resource.Def) []*pset {
	var all []*pset
	named := map[string]*pset{}
	for i := range w.nodes {
		names := []string{""}
		for _, def := range defs {
			var longer []string
			for _, before := range names {
				for _, value := range w.nodes[i].values(def) {
					longer = append(longer, strings.TrimPrefix(before+","+def.Name+"="+value, ","))
				}
			}
			names = longer
		}
		for _, name := range names {
			s := named[name]
			if s == nil {
				s = &pset{name: name}
				named[name], all = s, append(all, s)
			}
			s.add(w, i)
		}
	}
	return bySize(all)
}

// unused tells whether nobody has anything of a set.
func (w *world) unused(s *pset) bool {
	for _, h := range s.hosts {
		w.look(h)
	}
	return !slices.ContainsFunc(s.nodes, func(i int) bool { return w.nodes[i].jobs+w.nodes[i].held > 0 })
}

// fillUp gives a job that has a set to itself no cpu of each vnode of it that it has nothing of yet and that takes jobs: so nobody else gets any.
func (w *world) fillUp(s *pset, c *class, placed spec.ExecVnode) spec.ExecVnode {
	ncpus, _ := w.view.Resource("ncpus")
	for _, i := range s.nodes {
		if n := &w.nodes[i]; n.mine != w.tried && w.open(n, c) {
			w.mark(i)
			placed = append(placed, spec.ExecChunk{Parts: []spec.ExecPart{w.take(i, []need{{ncpus, 0}})}})
		}
	}
	return placed
}

// A roomyUnit is a compute unit with what of a class it could hold alone.
type roomyUnit struct {
	set           *pset
	chunks, slots int
}

// overUnits finds room in several compute units: in as few as possible, and of those in the ones with the most room for the class.
func (w *world) overUnits(c *class, all []*pset) (spec.ExecVnode, bool) {
	total := c.total()
	var units []roomyUnit
	for _, s := range all {
		placed, chunks, slots := w.rooms(c, s)
		if w.undo(placed); chunks > 0 {
			units = append(units, roomyUnit{s, chunks, slots})
		}
	}
	slices.SortStableFunc(units, func(a, b roomyUnit) int {
		return cmp.Or(cmp.Compare(b.slots, a.slots), cmp.Compare(b.chunks, a.chunks))
	})
	most := len(units)
	if c.units.Max > 0 {
		most = min(most, c.units.Max)
	}
	sum := 0
	for k := range most {
		if sum += units[k].chunks; k == 0 || sum < total {
			continue
		}
		if placed, ok := w.onUnits(c, units[:k+1]); ok {
			names := make([]string, 0, k+1)
			for _, u := range units[:k+1] {
				names = append(names, u.set.name)
			}
			w.foundIn = strings.Join(names, ",")
			return placed, true
		}
	}
	return nil, false
}

// rooms takes as much of a class as a unit has room for, and returns how many chunks and slots that is.
func (w *world) rooms(c *class, s *pset) (placed spec.ExecVnode, chunks, slots int) {
	w.attempt()
	w.set = s
	for _, ch := range c.chunks {
		n := ch.count - w.leftover(c, ch, &placed)
		chunks, slots = chunks+n, slots+n*int(ch.of("ncpus"))
	}
	w.set = nil
	return placed, chunks, slots
}

// onUnits places a class on all of some units, one after the other: each takes what it has room for, or its share. The chunks stay in the
// order of their kinds.
func (w *world) onUnits(c *class, units []roomyUnit) (spec.ExecVnode, bool) {
	w.attempt()
	total := c.total()
	left, placed := make([]int, len(c.chunks)), make([]spec.ExecVnode, len(c.chunks))
	for k, ch := range c.chunks {
		left[k] = ch.count
	}
	ok := true
	for u := range units {
		share, slots := total, 0
		if c.units.Balance {
			share = total / len(units)
			if u < total%len(units) {
				share++
			}
		}
		w.set = units[u].set
		for k, ch := range c.chunks {
			if ch.count = min(left[k], share); ch.count == 0 {
				continue
			}
			n := ch.count - w.leftover(c, ch, &placed[k])
			left[k], share, slots = left[k]-n, share-n, slots+n*int(ch.of("ncpus"))
		}
		w.set = nil
		last := u == len(units)-1
		ok = ok && !(c.units.Balance && share > 0) && (last || slots >= c.units.Usable)
	}
	whole := slices.Concat(placed...)
	if !ok || len(whole) < total {
		w.undo(whole)
		return nil, false
	}
	return whole, true
}

// gatherOver returns what can be kept for a job that may be over several compute units: of as many as it may have, of which most can be kept, or,
// where these could never hold it, of the largest.
func (c *cycle) gatherOver(cl *class, m mode) (parts []state.Kept, from reach) {
	type unit struct {
		set *pset
		now int64
	}
	var units []unit
	for _, s := range c.free.sets(cl.groups) {
		units = append(units, unit{s, (&state.Pending{Held: c.gatherOn(cl, m, s.hosts)}).Slots()})
	}
	most := len(units)
	if cl.units.Max > 0 {
		most = min(most, cl.units.Max)
	}
	offered := func() (sum int64) {
		for _, u := range units[:most] {
			sum = plus(sum, u.set.ncpus)
		}
		return sum
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.now, a.now) })
	if offered() < cl.slots() {
		slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.set.ncpus, a.set.ncpus) })
	}
	if offered() < cl.slots() {
		return nil, reach{}
	}
	hosts := []int{}
	for _, u := range units[:most] {
		hosts = append(hosts, u.set.hosts...)
	}
	slices.Sort(hosts)
	return c.gatherOn(cl, m, slices.Compact(hosts)), reach{-1, func(o int) bool { _, in := slices.BinarySearch(hosts, o); return in }}
}
