package alloc

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// Keep keeps the primary execution host and of the other chunks only what the wish names
// (specification: ramp-down section 6). Vnodes for which failed is true (it may be nil) can
// satisfy nothing. It refuses with Unsatisfied.
func Keep(g Grant, w Wish, failed func(pbs.VnodeName) bool, t resource.Table) (Split, error) {
	a, err := g.open()
	if err != nil {
		return Split{}, err
	}
	chunks, err := available(a, failed, t)
	if err != nil {
		return Split{}, err
	}
	kept := make([]taken, 0, len(w.Chunks)) // in the order of the wish
	whole := true
	for i := range a.ExecVnode {
		if a.Primary(i) {
			kept = append(kept, taken{index: i})
		}
	}
	var d *demand
	from := 0
	for n, wanted := range w.Chunks {
		if n == 0 || !wanted.Alike(w.Chunks[n-1]) {
			d, from = newDemand(wanted.Items, t), 0 // else what was passed over would be passed over again
		}
		at := slices.IndexFunc(chunks[from:], func(c chunk) bool { return !c.used && d.satisfiedBy(c.shape) })
		if at < 0 {
			return Split{}, &Unsatisfied{Chunk: wanted.Items, Wish: w, Have: a.ExecVnode.String()}
		}
		c := &chunks[from+at]
		c.used, from = true, from+at+1
		cut, err := d.cut(a.ExecVnode[c.index], c.shape)
		if err != nil {
			return Split{}, err
		}
		kept, whole = append(kept, taken{c.index, cut}), whole && cut == nil
	}
	if whole && len(kept) == len(a.ExecVnode) {
		return Split{Kept: g}, nil
	}
	left, released := divided(a.Assignment, kept)
	var sel spec.Select
	for _, k := range kept {
		sel.Chunks = append(sel.Chunks, a.chunks[k.index])
	}
	to, err := a.fulfilling(left, sel.Grouped(), t)
	return Split{to, released}, err
}

// A demand is what one chunk of a wish asks for, and what was found about the shape that was
// looked at last: most chunks of a job have the same.
type demand struct {
	table  resource.Table
	wanted []wanted
	never  bool // nothing can satisfy it

	seen *shape
	fits bool
	done *shape
	made cut
}

type wanted struct {
	def    resource.Def
	amount resource.Quantity
}

func newDemand(items resource.List, t resource.Table) *demand {
	d := &demand{table: t}
	for _, it := range items {
		def, _ := t.Resource(it.Name)
		q, err := def.Parse(it.Value)
		d.never = d.never || err != nil
		d.wanted = append(d.wanted, wanted{def, q})
	}
	return d
}

// satisfiedBy reports whether chunks of the shape have what is wanted: numbers at least as
// large, others equal.
func (d *demand) satisfiedBy(s *shape) bool {
	if s != d.seen {
		d.seen, d.fits = s, !d.never && !slices.ContainsFunc(d.wanted, func(w wanted) bool { return !s.has(w) })
	}
	return d.fits
}

func (s *shape) has(w wanted) bool {
	have, ok := s.sums[w.def.Name]
	if !ok && w.def.Type.Numeric() && w.amount.IsZero() {
		return true
	}
	return resource.Matches(w.def, w.amount, have.String(), ok)
}

// cut keeps the parts of a chunk from the left until what is wanted of each named consumable
// is reached, and cuts the last value. It is nil when all of the chunk stays.
func (d *demand) cut(c spec.ExecChunk, s *shape) (cut, error) {
	if d.done == s {
		return d.made, nil
	}
	made, err := d.cutAnew(c)
	if err == nil {
		d.done, d.made = s, made
	}
	return made, err
}

func (d *demand) cutAnew(c spec.ExecChunk) (cut, error) {
	need := map[string]resource.Quantity{}
	for _, w := range d.wanted {
		if w.def.AtVnodes() {
			need[w.def.Name] = w.amount
		}
	}
	kept, all := map[int]resource.List{}, true
	for i, p := range c.Parts {
		items, needed, same, err := cutPart(p.Items, need, d.table)
		if err != nil {
			return nil, err
		}
		if needed {
			kept[i] = items
		}
		all = all && needed && same
	}
	if all || len(need) == 0 || len(kept) == 0 { // nothing, or nothing but zeros, was wanted
		return nil, nil
	}
	return newCut(c, kept, d.table)
}

// cutPart takes what is needed of one vnode, and lowers need by it.
func cutPart(have resource.List, need map[string]resource.Quantity, t resource.Table) (kept resource.List, needed, same bool, err error) {
	same = true
	for _, it := range have {
		wanted, named := need[it.Name]
		if !named {
			kept = append(kept, it)
			continue
		}
		q, err := parse(it, t)
		if err != nil {
			return nil, false, false, err
		}
		if q.Cmp(wanted) <= 0 {
			if need[it.Name], err = wanted.Sub(q); err != nil {
				return nil, false, false, err
			}
			kept, needed = append(kept, it), needed || !q.IsZero()
			continue
		}
		same = false
		if !wanted.IsZero() {
			needed = true
			kept = append(kept, resource.Item{Name: it.Name, Value: wanted.InKB().String()})
			if need[it.Name], err = wanted.Sub(wanted); err != nil {
				return nil, false, false, err
			}
		}
	}
	return kept, needed, same, nil
}
