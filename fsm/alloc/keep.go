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
func Keep(a Assignment, w Wish, failed func(pbs.VnodeName) bool, t resource.Table) (Split, error) {
	chunks, err := available(a, failed, t)
	if err != nil {
		return Split{}, err
	}
	taken := make([]int, 0, len(w.Chunks)) // chunks of a, in the order of the wish
	parts := map[int]spec.ExecChunk{}
	whole := true
	for i := range a.ExecVnode {
		if a.Primary(i) {
			taken, parts[i] = append(taken, i), a.ExecVnode[i]
		}
	}
	from := 0
	for n, wanted := range w.Chunks {
		want := wanted.Items
		if n == 0 || !slices.Equal(want, w.Chunks[n-1].Items) {
			from = 0 // else what was passed over would be passed over again
		}
		at := slices.IndexFunc(chunks[from:], func(c *chunk) bool { return !c.used && c.satisfies(want, t) })
		if at < 0 {
			return Split{}, &Unsatisfied{Chunk: want, Wish: w, Have: a.ExecVnode.String()}
		}
		c := chunks[from+at]
		c.used, from = true, from+at+1
		cut, all, err := cutChunk(a.ExecVnode[c.index], want, t)
		if err != nil {
			return Split{}, err
		}
		taken, parts[c.index], whole = append(taken, c.index), cut, whole && all
	}
	if whole && len(taken) == len(a.ExecVnode) {
		return Split{Kept: a}, nil
	}
	return split(a, taken, parts, t)
}

// split writes down which chunks stay, in the order of taken, and with which parts.
func split(a Assignment, taken []int, parts map[int]spec.ExecChunk, t resource.Table) (Split, error) {
	var s Split
	for _, i := range taken {
		s.Kept.ExecVnode = append(s.Kept.ExecVnode, parts[i])
		s.Kept.ExecHost = append(s.Kept.ExecHost, a.ExecHost[i])
		s.Kept.Select.Chunks = append(s.Kept.Select.Chunks, a.Select.Chunks[i])
	}
	for i, before := range a.ExecVnode {
		gone, err := rest(before, parts[i], t)
		if err != nil {
			return Split{}, err
		}
		if len(gone.Parts) > 0 {
			s.Released = append(s.Released, Placed{a.ExecHost[i].Host, gone})
		}
	}
	grouped := group(s.Kept.Select)
	kept, err := withRequest(a, s.Kept, grouped, t)
	kept.Select = grouped
	s.Kept = kept
	return s, err
}

// cutChunk keeps the parts of a chunk from the left until what is wanted of each named
// consumable is reached, and cuts the last value. It reports whether all of it stays.
func cutChunk(c spec.ExecChunk, want resource.List, t resource.Table) (kept spec.ExecChunk, all bool, err error) {
	need := map[string]resource.Quantity{}
	for _, it := range want {
		def, _ := t.Resource(it.Name)
		if !def.AtVnodes() {
			continue
		}
		if need[it.Name], err = def.Parse(it.Value); err != nil {
			return spec.ExecChunk{}, false, err
		}
	}
	if len(need) == 0 {
		return c, true, nil
	}
	all = true
	for _, p := range c.Parts {
		items, needed, same, err := cutPart(p.Items, need, t)
		if err != nil {
			return spec.ExecChunk{}, false, err
		}
		if needed {
			kept.Parts = append(kept.Parts, spec.ExecPart{Vnode: p.Vnode, Items: items})
		}
		all = all && needed && same
	}
	if len(kept.Parts) == 0 { // nothing but zeros was wanted
		return c, true, nil
	}
	return kept, all, nil
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

// rest is what is left of a chunk without what is kept of it. The kept parts are some of its
// own, in their order.
func rest(before, kept spec.ExecChunk, t resource.Table) (gone spec.ExecChunk, err error) {
	next := 0
	for _, p := range before.Parts {
		if next == len(kept.Parts) || kept.Parts[next].Vnode != p.Vnode {
			gone.Parts = append(gone.Parts, p)
			continue
		}
		left, err := restItems(p.Items, kept.Parts[next].Items, t)
		if err != nil {
			return spec.ExecChunk{}, err
		}
		if len(left) > 0 {
			gone.Parts = append(gone.Parts, spec.ExecPart{Vnode: p.Vnode, Items: left})
		}
		next++
	}
	return gone, nil
}

func restItems(before, kept resource.List, t resource.Table) (left resource.List, err error) {
	for _, it := range before {
		stays, ok := kept.Get(it.Name)
		switch {
		case !ok:
			left = append(left, it)
		case stays != it.Value:
			q, err := parse(it, t)
			if err != nil {
				return nil, err
			}
			k, err := parse(resource.Item{Name: it.Name, Value: stays}, t)
			if err != nil {
				return nil, err
			}
			if q.Type().Numeric() {
				if q, err = q.Sub(k); err != nil {
					return nil, err
				}
				if !q.IsZero() {
					left = append(left, resource.Item{Name: it.Name, Value: q.InKB().String()})
				}
			}
		}
	}
	return left, nil
}
