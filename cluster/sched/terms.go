package sched

import (
	"slices"
	"strings"

	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// The terms of a compound requirement each have what they say of their own hosts: those of a term may have to agree in something, whatever
// those of others have (specification: reservation section 2.1, rule 12).

// mostChoices bounds in how many ways the terms of a class are put into sets before it is taken to have no room.
const mostChoices = 500

// A termed is a term with its kinds of chunks, and the sets that it may be in.
type termed struct {
	kinds []int
	sets  []*pset // the smallest first; nil in it: it may be anywhere
}

// onTerms finds room for each term in a set of its own. Those that may be anywhere have what the others leave.
func (w *world) onTerms(c *class) (spec.ExecVnode, bool) {
	outer := w.set
	defer func() { w.set = outer }()
	terms := w.terms(c)
	for i := range terms {
		t := &terms[i]
		if t.sets = slices.DeleteFunc(t.sets, func(s *pset) bool { return !w.holdsTerm(c, *t, s) }); len(t.sets) == 0 {
			return nil, false
		}
	}
	choice := make([]int, len(terms))
	for range mostChoices {
		w.attempt()
		placed := make([]spec.ExecVnode, len(c.chunks))
		done := 0
		for done < len(terms) && w.onTerm(c, terms[done], terms[done].sets[choice[done]], placed) {
			done++
		}
		whole := slices.Concat(placed...)
		if done == len(terms) {
			w.foundIn = chosenNames(terms, choice)
			return whole, true
		}
		if w.undo(whole); !another(terms, choice, done) {
			return nil, false
		}
	}
	return nil, false
}

// another makes the next choice of sets, the failed one being that of the last term but those behind it; false: there is none.
func another(terms []termed, choice []int, failed int) bool {
	for at := failed; at >= 0; at-- {
		if choice[at]++; choice[at] < len(terms[at].sets) {
			return true
		}
		choice[at] = 0
	}
	return false
}

func chosenNames(terms []termed, choice []int) string {
	var names []string
	for i, t := range terms {
		if s := t.sets[choice[i]]; s != nil && s.name != "" {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, ",")
}

// terms returns the terms of a class, those that are to be in a set first, and the parts of the sets that are in the present one.
func (w *world) terms(c *class) (terms []termed) {
	at := map[int]int{}
	for pass := range 2 {
		for i, ch := range c.chunks {
			g, sets := c.agree[ch.term]
			if sets != (pass == 0) {
				continue
			}
			k, known := at[ch.term]
			if !known {
				k = len(terms)
				at[ch.term] = k
				t := termed{sets: []*pset{w.set}}
				if sets {
					t.sets = nil
					for _, s := range w.sets(g) {
						t.sets = append(t.sets, w.meet(s, w.set))
					}
				}
				terms = append(terms, t)
			}
			terms[k].kinds = append(terms[k].kinds, i)
		}
	}
	return terms
}

// meet returns the part of a set that is in another one; nil: all is in that.
func (w *world) meet(s, other *pset) *pset {
	if other == nil {
		return s
	}
	part := &pset{name: s.name, first: s.first, rest: s.rest}
	for _, i := range s.nodes {
		if other.has(i) {
			part.add(w, i)
		}
	}
	slices.Sort(part.hosts)
	part.hosts = slices.Compact(part.hosts)
	return part
}

// holdsTerm reports whether a term would have room in a set alone.
func (w *world) holdsTerm(c *class, t termed, s *pset) bool {
	w.attempt()
	placed := make([]spec.ExecVnode, len(c.chunks))
	ok := w.onTerm(c, t, s, placed)
	w.undo(slices.Concat(placed...))
	return ok
}

// onTerm places the chunks of a term in a set.
func (w *world) onTerm(c *class, t termed, s *pset, placed []spec.ExecVnode) bool {
	w.set = s
	for _, i := range t.kinds {
		if !w.spread(c, c.chunks[i], &placed[i]) {
			return false
		}
	}
	return true
}

// gatherTerms returns what can be kept for a job of which each term is in a set of its own: of the set of which most can be kept for it.
func (c *cycle) gatherTerms(cl *class, m mode) (parts []state.Kept, from reach) {
	chosen, promised := map[int]*pset{}, map[*pset]int64{}
	for _, t := range c.free.terms(cl) {
		term := cl.chunks[t.kinds[0]].term
		var most int64 = -1
		for _, s := range t.sets {
			if s == nil {
				most = 0
				continue
			}
			g := c.gatherer(cl, m)
			g.only = term
			wanted := g.wanted()
			g.on(s, cl.by, unbounded)
			if n := wanted - g.wanted(); n > most && c.holdsIn(s, cl, cl.chunks[t.kinds[0]:][:len(t.kinds)])-promised[s] >= wanted {
				most, chosen[term] = n, s
			}
		}
		if most < 0 {
			return nil, reach{} // it is in none
		}
		if s := chosen[term]; s != nil {
			g := c.gatherer(cl, m)
			g.only = term
			promised[s] += g.wanted()
		}
	}
	g := c.gatherer(cl, m)
	g.sets = chosen
	g.anywhere()
	return g.all(), reach{-1, func(h int) bool {
		return slices.ContainsFunc(cl.chunks, func(ch chunk) bool { return chosen[ch.term].on(h) })
	}}
}
