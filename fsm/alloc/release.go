package alloc

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// Release takes the vnodes for which drop is true out of an assignment (specification:
// ramp-down section 5). Chunks and their parts keep their order; a chunk that loses all of
// its parts disappears. The vnodes of the primary execution host are the caller's to spare.
func Release(a Assignment, drop func(pbs.VnodeName) bool, t resource.Table) (Split, error) {
	placed := inExecVnode(a.ExecVnode)
	var s Split
	for i, chunk := range a.ExecVnode {
		var stay, gone spec.ExecChunk
		for _, p := range chunk.Parts {
			if drop(p.Vnode) {
				gone.Parts = append(gone.Parts, p)
			} else {
				stay.Parts = append(stay.Parts, p)
			}
		}
		if len(gone.Parts) > 0 {
			s.Released = append(s.Released, Placed{a.ExecHost[i].Host, gone})
		}
		if len(stay.Parts) == 0 {
			continue
		}
		items, err := derive(stay, a.Select.Chunks[i].Items, placed, t)
		if err != nil {
			return Split{}, err
		}
		s.Kept.ExecVnode = append(s.Kept.ExecVnode, stay)
		s.Kept.ExecHost = append(s.Kept.ExecHost, a.ExecHost[i])
		s.Kept.Select.Chunks = append(s.Kept.Select.Chunks, spec.Chunk{Count: 1, Items: items})
	}
	if s.Whole() {
		return Split{Kept: a}, nil
	}
	kept, err := withRequest(a, s.Kept, s.Kept.Select, t)
	s.Kept = kept
	return s, err
}

// ReleaseSisters releases all that is not on the primary execution host.
func ReleaseSisters(a Assignment, t resource.Table) (Split, error) {
	sisters := map[pbs.VnodeName]bool{}
	for name, host := range a.Vnodes {
		sisters[name] = host != a.ExecHost[0].Host
	}
	return Release(a, func(v pbs.VnodeName) bool { return sisters[v] }, t)
}

// inExecVnode returns the names of the resources that vnodes were charged with.
func inExecVnode(e spec.ExecVnode) map[string]bool {
	names := map[string]bool{}
	for _, c := range e {
		for _, p := range c.Parts {
			for _, it := range p.Items {
				names[it.Name] = true
			}
		}
	}
	return names
}

// derive writes the request for what is left of a chunk: its resources summed in the order
// in which they are met, then those of the old request that vnodes are not charged with.
func derive(left spec.ExecChunk, old resource.List, placed map[string]bool, t resource.Table) (resource.List, error) {
	items, err := summed(left, t)
	if err != nil {
		return nil, err
	}
	for _, it := range old {
		if !placed[it.Name] {
			items = append(items, it)
		}
	}
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
