package alloc

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// Release takes the vnodes for which drop is true out of an assignment (specification:
// ramp-down section 5). Chunks and their parts keep their order; a chunk that loses all of
// its parts disappears. The vnodes of the primary execution host are the caller's to spare.
func Release(g Grant, drop func(pbs.VnodeName) bool, t resource.Table) (Split, error) {
	return release(g, func(_ int, name pbs.VnodeName) bool { return drop(name) }, t)
}

// ReleaseSisters releases all that is not on the primary execution host.
func ReleaseSisters(g Grant, t resource.Table) (Split, error) {
	return release(g, func(chunk int, _ pbs.VnodeName) bool { return !g.Primary(chunk) }, t)
}

func release(g Grant, drop func(chunk int, name pbs.VnodeName) bool, t resource.Table) (Split, error) {
	a, err := g.open()
	if err != nil {
		return Split{}, err
	}
	d := deriver{placed: inExecVnode(a.ExecVnode), table: t}
	var left Assignment
	var released []Placed
	var sel spec.Select
	for i, chunk := range a.ExecVnode {
		stay, gone := divide(chunk, func(p spec.ExecPart) bool { return drop(i, p.Vnode) })
		if len(gone.Parts) > 0 {
			released = append(released, Placed{a.ExecHost[i].Host, gone})
		}
		if len(stay.Parts) == 0 {
			continue
		}
		items, err := d.request(stay, a.chunks[i].Items)
		if err != nil {
			return Split{}, err
		}
		left.ExecVnode, left.ExecHost = append(left.ExecVnode, stay), append(left.ExecHost, a.ExecHost[i])
		sel.Chunks = append(sel.Chunks, spec.Chunk{Count: 1, Items: items})
	}
	if len(released) == 0 {
		return Split{Kept: g}, nil
	}
	to, err := a.fulfilling(left, sel, t)
	return Split{to, released}, err
}

// divide sorts the parts of a chunk into those that stay and those that go.
func divide(c spec.ExecChunk, goes func(spec.ExecPart) bool) (stay, gone spec.ExecChunk) {
	first := len(c.Parts) > 0 && goes(c.Parts[0])
	if !slices.ContainsFunc(c.Parts, func(p spec.ExecPart) bool { return goes(p) != first }) {
		if first {
			return spec.ExecChunk{}, c
		}
		return c, spec.ExecChunk{}
	}
	for _, p := range c.Parts {
		if goes(p) {
			gone.Parts = append(gone.Parts, p)
		} else {
			stay.Parts = append(stay.Parts, p)
		}
	}
	return stay, gone
}

// inExecVnode returns the names of the resources that vnodes were charged with.
func inExecVnode(e spec.ExecVnode) map[string]bool {
	names := map[string]bool{}
	for i, c := range e {
		if i > 0 && alike(c, e[i-1]) {
			continue
		}
		for _, p := range c.Parts {
			for _, it := range p.Items {
				names[it.Name] = true
			}
		}
	}
	return names
}

// A deriver writes the requests for chunks. That for one like the one before is the same.
type deriver struct {
	placed map[string]bool // resources that vnodes are charged with
	table  resource.Table

	known bool
	left  spec.ExecChunk
	old   resource.List
	items resource.List
}

// request writes the request for what is left of a chunk: its resources summed in the order
// in which they are met, then those of the old request that vnodes are not charged with.
func (d *deriver) request(left spec.ExecChunk, old resource.List) (resource.List, error) {
	if d.known && alike(left, d.left) && slices.Equal(old, d.old) {
		return d.items, nil
	}
	items, err := summed(left, d.table)
	if err != nil {
		return nil, err
	}
	for _, it := range old {
		if !d.placed[it.Name] {
			items = append(items, it)
		}
	}
	d.known, d.left, d.old, d.items = true, left, old, items
	return items, nil
}

// summed adds up the resources of a chunk's parts, sizes in kb, in the order in which their
// names are met. Of what cannot be added the first value counts.
func summed(c spec.ExecChunk, t resource.Table) (resource.List, error) {
	var names []string
	sums := map[string]resource.Quantity{}
	for _, p := range c.Parts {
		for _, it := range p.Items {
			q, err := parse(it, t)
			if err != nil {
				return nil, err
			}
			before, met := sums[it.Name]
			switch {
			case !met:
				names = append(names, it.Name)
			case q.Type().Numeric():
				if q, err = before.Add(q); err != nil {
					return nil, err
				}
			default:
				q = before
			}
			sums[it.Name] = q
		}
	}
	items := make(resource.List, len(names))
	for i, name := range names {
		items[i] = resource.Item{Name: name, Value: sums[name].InKB().String()}
	}
	return items, nil
}

func parse(it resource.Item, t resource.Table) (resource.Quantity, error) {
	def, ok := t.Resource(it.Name)
	if !ok {
		return resource.Quantity{}, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", it.Name)
	}
	return def.Parse(it.Value)
}
