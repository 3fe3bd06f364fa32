package alloc

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// An Instance tells the vnode that is charged for a resource of another one, if a job has the resource once of all that share that amount,
// on however many of them it is (specification: reservation section 4, PER_JOB).
type Instance func(v pbs.VnodeName, res string) (pool pbs.VnodeName, once bool)

// Carry leaves with what is kept of a split the amounts that the job has once of an instance, as long as it keeps a vnode of that: the first
// such vnode has them from then on (specification: reservation section 6.9). A job that has no such resources is split as it was.
func (s Split) Carry(of Instance, t resource.Table) (Split, error) {
	type where struct {
		pool pbs.VnodeName
		res  string
	}
	next := s
	next.Released = slices.Clone(s.Released)
	carried := map[int]resource.List{} // by chunk that is kept
	var kept spec.ExecVnode
	known := map[string]bool{}  // resources of which first says all
	first := map[where][2]int{} // the chunk and the part of it that is kept
	holder := func(w where) (at [2]int, ok bool) {
		if !known[w.res] {
			known[w.res] = true
			for i, c := range s.Kept.ExecVnode {
				for k, p := range c.Parts {
					pool, once := of(p.Vnode, w.res)
					if _, met := first[where{pool, w.res}]; once && !met {
						first[where{pool, w.res}] = [2]int{i, k}
					}
				}
			}
		}
		at, ok = first[w]
		return at, ok
	}
	for i, placed := range s.Released {
		for k, p := range placed.Parts {
			for _, it := range p.Items {
				pool, once := of(p.Vnode, it.Name)
				if !once {
					continue
				}
				at, stays := holder(where{pool, it.Name})
				if !stays {
					continue
				}
				chunk, part := at[0], at[1]
				if kept == nil {
					kept = slices.Clone(s.Kept.ExecVnode)
				}
				var err error
				if kept[chunk], err = withMore(kept[chunk], part, it, t); err != nil {
					return s, err
				}
				carried[chunk] = append(carried[chunk], it)
				next.Released[i].ExecChunk = withLess(next.Released[i].ExecChunk, k, it.Name)
			}
		}
	}
	if kept == nil {
		return s, nil
	}
	g, err := s.Kept.open()
	if err != nil {
		return s, err
	}
	sel := spec.Select{Chunks: slices.Clone(g.chunks)}
	for chunk, more := range carried {
		for _, it := range more {
			if sel.Chunks[chunk].Items, err = with(sel.Chunks[chunk].Items, it, t); err != nil {
				return s, err
			}
		}
	}
	next.Kept, err = g.fulfilling(Assignment{kept, s.Kept.ExecHost}, sel, t)
	return next, err
}

// withMore returns a chunk of which a part has more.
func withMore(c spec.ExecChunk, part int, more resource.Item, t resource.Table) (spec.ExecChunk, error) {
	c.Parts = slices.Clone(c.Parts)
	items, err := with(c.Parts[part].Items, more, t)
	c.Parts[part].Items = items
	return c, err
}

// with returns items with more of a resource, in their order.
func with(items resource.List, more resource.Item, t resource.Table) (resource.List, error) {
	at := slices.IndexFunc(items, func(it resource.Item) bool { return it.Name == more.Name })
	if at < 0 {
		return append(slices.Clip(items), more), nil
	}
	sum, err := resource.Add(items[at:at+1:at+1], resource.List{more}, t)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	items[at] = sum[0]
	return items, nil
}

// withLess returns a chunk of which a part has nothing of a resource.
func withLess(c spec.ExecChunk, part int, res string) spec.ExecChunk {
	c.Parts = slices.Clone(c.Parts)
	c.Parts[part].Items = slices.DeleteFunc(slices.Clone(c.Parts[part].Items), func(it resource.Item) bool { return it.Name == res })
	return c
}
