package alloc

import (
	"slices"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A cut says of each part of a chunk what stays and what goes. It names no vnodes, so that
// one does for all chunks of the same shape, of which a job may have ten thousand. A nil one
// leaves all.
type cut []share

type share struct {
	stays      bool // else the whole part goes
	kept, gone resource.List
}

// alike reports whether chunks have the same of their vnodes, whatever those are called.
func alike(a, b spec.ExecChunk) bool {
	return slices.EqualFunc(a.Parts, b.Parts, func(x, y spec.ExecPart) bool { return slices.Equal(x.Items, y.Items) })
}

// newCut notes for each part of a chunk what is kept of it; parts that kept does not name go.
func newCut(c spec.ExecChunk, kept map[int]resource.List, t resource.Table) (cut, error) {
	shares, whole := make(cut, len(c.Parts)), true
	for i, p := range c.Parts {
		items, stays := kept[i]
		whole = whole && stays && slices.Equal(items, p.Items)
		gone, err := restItems(p.Items, items, t)
		if err != nil {
			return nil, err
		}
		shares[i] = share{stays, items, gone}
	}
	if whole {
		return nil, nil
	}
	return shares, nil
}

// kept returns what stays of a chunk.
func (s cut) kept(c spec.ExecChunk) spec.ExecChunk {
	if s == nil {
		return c
	}
	var out spec.ExecChunk
	for i, p := range c.Parts {
		if s[i].stays {
			out.Parts = append(out.Parts, spec.ExecPart{Vnode: p.Vnode, Items: s[i].kept})
		}
	}
	return out
}

// gone returns what goes of a chunk.
func (s cut) gone(c spec.ExecChunk) spec.ExecChunk {
	var out spec.ExecChunk
	for i, one := range s {
		switch {
		case !one.stays:
			out.Parts = append(out.Parts, c.Parts[i])
		case len(one.gone) > 0:
			out.Parts = append(out.Parts, spec.ExecPart{Vnode: c.Parts[i].Vnode, Items: one.gone})
		}
	}
	return out
}

// A taken chunk is one that stays, whole or cut.
type taken struct {
	index int
	cut   cut
}

// divided writes down which chunks stay, in the order of kept, and what of the others and of
// the cut ones is given back, in the order of the assignment.
func divided(a Assignment, kept []taken) (left Assignment, released []Placed) {
	left = Assignment{make(spec.ExecVnode, 0, len(kept)), make(spec.ExecHost, 0, len(kept))}
	stays, cuts := make([]bool, len(a.ExecVnode)), make([]cut, len(a.ExecVnode))
	for _, k := range kept {
		stays[k.index], cuts[k.index] = true, k.cut
		left.ExecVnode = append(left.ExecVnode, k.cut.kept(a.ExecVnode[k.index]))
		left.ExecHost = append(left.ExecHost, a.ExecHost[k.index])
	}
	for i, c := range a.ExecVnode {
		if stays[i] {
			c = cuts[i].gone(c)
		}
		if len(c.Parts) > 0 {
			released = append(released, Placed{a.ExecHost[i].Host, c})
		}
	}
	return left, released
}

// restItems returns what is left of a part's resources without what is kept of them.
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
