package sched

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// What a requirement of LSF says of groups of hosts beyond one resource in which all of a job's hosts agree: several of these, a compute unit
// to itself, or several compute units (specification: reservation section 2.1, rule 12).

// grouped notes which sets a class has asked for, and returns why it cannot have them. The first resource tells compute units apart, if the
// class has asked for any.
func (c *class) grouped(layout lsf.Layout, t resource.Table) (bad string) {
	var names []string
	if u := layout.Units; u.Type != "" {
		names, c.units = append(names, u.Type), &u
	}
	if c.place.Group != "" {
		names = append(append(names, c.place.Group), layout.Same...)
	}
	if len(names) == 0 {
		return ""
	}
	c.groups, bad = groupsOf(names, t)
	c.unit = layout.Unit
	return bad
}

// agreeing notes in what the hosts of a term are to agree, and returns why they cannot.
func (c *class) agreeing(l lsf.KindLayout, t resource.Table) (bad string) {
	if len(l.Same) == 0 {
		return ""
	}
	if c.agree == nil {
		c.agree = map[int]groups{}
	}
	c.agree[l.Term], bad = groupsOf(l.Same, t)
	return bad
}

// inSets reports whether a class, or a term of it, is in sets.
func (c *class) inSets() bool { return len(c.groups.defs) > 0 || c.agree != nil }

// groupsOf are the groups of hosts that have one value of each of some resources.
func groupsOf(names []string, t resource.Table) (g groups, bad string) {
	g = groups{own: true, keys: strings.Join(names, "&"), together: len(names) > 1}
	for _, name := range names {
		g.defs = append(g.defs, keysOf(name, t)...)
	}
	if len(g.defs) < len(names) {
		return g, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", strings.Join(names, ",")).Error()
	}
	return g, ""
}

// agreeing makes the sets of nodes that have the same values of all of some resources.
func (w *world) agreeing(defs []resource.Def) []*pset {
	type values struct{ first, rest string }
	var all []*pset
	named := map[values]*pset{}
	for i := range w.nodes {
		names := []values{{}}
		for k, def := range defs {
			var longer []values
			for _, before := range names {
				for _, value := range w.nodes[i].values(def) {
					next := before
					if value = def.Name + "=" + value; k == 0 {
						next.first = value
					} else {
						next.rest = strings.TrimPrefix(before.rest+","+value, ",")
					}
					longer = append(longer, next)
				}
			}
			names = longer
		}
		for _, name := range names {
			s := named[name]
			if s == nil {
				s = &pset{name: strings.TrimSuffix(name.first+","+name.rest, ","), first: name.first, rest: name.rest}
				named[name], all = s, append(all, s)
			}
			s.add(w, i)
		}
	}
	return bySize(all)
}

// unitOf returns the whole compute unit of which a set is a part.
func (w *world) unitOf(c *class, s *pset) *pset {
	if !c.groups.together {
		return s
	}
	def := c.groups.defs[0]
	all := w.grouped(groups{keys: def.Name, defs: []resource.Def{def}, own: true})
	return all[slices.IndexFunc(all, func(u *pset) bool { return u.name == s.first })]
}

// unused reports whether nobody has anything of a set.
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

// agreedUnits are compute units, or the parts of them of which the hosts agree in what the class wants them to: those with the most room for it
// first. They are looked at until it is clear that no more of them would do.
type agreedUnits struct {
	units []roomyUnit
	rest  string
	sum   int // chunks that the first ones have room for, as many as were looked at
	over  bool
}

// overUnits finds room in several compute units: in as few as possible, and of those in the ones with the most room for the class.
func (w *world) overUnits(c *class, all []*pset) (spec.ExecVnode, bool) {
	total := c.total()
	groups := w.roomy(c, all)
	for k, more := 0, true; more; k++ {
		more = false
		for _, g := range groups {
			switch {
			case g.over:
				continue
			case k == len(g.units), c.units.Max > 0 && k == c.units.Max, k > 0 && g.units[k-1].slots < c.units.Usable:
				g.over = true // the next ones are no larger, and only one may be smaller than that
				continue
			}
			more = true
			if g.sum += g.units[k].chunks; k == 0 || g.sum < total {
				continue
			}
			if placed, ok := w.onUnits(c, g.units[:k+1]); ok {
				w.foundIn = namesOf(g.units[:k+1])
				return placed, true
			}
		}
	}
	return nil, false
}

func namesOf(units []roomyUnit) string {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.set.name
	}
	return strings.Join(names, ",")
}

// roomy returns the units that a class may have, with the room for it that is in each.
func (w *world) roomy(c *class, all []*pset) (groups []*agreedUnits) {
	for _, s := range all {
		if c.unit && !w.unused(w.unitOf(c, s)) {
			continue
		}
		placed, chunks, slots := w.rooms(c, s)
		if w.undo(placed); chunks == 0 {
			continue
		}
		at := slices.IndexFunc(groups, func(g *agreedUnits) bool { return g.rest == s.rest })
		if at < 0 {
			at, groups = len(groups), append(groups, &agreedUnits{rest: s.rest})
		}
		groups[at].units = append(groups[at].units, roomyUnit{s, chunks, slots})
	}
	for _, g := range groups {
		slices.SortStableFunc(g.units, func(a, b roomyUnit) int {
			return cmp.Or(cmp.Compare(b.slots, a.slots), cmp.Compare(b.chunks, a.chunks))
		})
	}
	return groups
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
	if c.unit {
		for _, u := range units {
			whole = w.fillUp(w.unitOf(c, u.set), c, whole)
		}
	}
	return whole, true
}
