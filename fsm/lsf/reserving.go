package lsf

import (
	"slices"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// Reserving returns chunks with what a requirement reserves in the place of what they did, and what it reserves of the cluster: of a job that
// came by qsub, each of whose chunks has the amounts for itself (specification: reservation section 2.9). A requirement of several terms has
// one for each kind of chunk. Slots and GPUs, which programs were given by number, stay.
func Reserving(sel spec.Select, req resreq.Requirement, table resource.Table) (spec.Select, resource.List, error) {
	s := &shaper{table: table}
	next := spec.Select{Chunks: slices.Clone(sel.Chunks)}
	var wide resource.List
	for i, c := range next.Chunks {
		items := slices.DeleteFunc(slices.Clone(c.Items), func(it resource.Item) bool {
			def, known := table.Resource(it.Name)
			return known && def.AtVnodes() && it.Name != "ncpus" && it.Name != "ngpus"
		})
		for _, r := range usageOf(req, i) {
			def, asked, err := s.defined(r)
			if err != nil {
				return sel, nil, err
			}
			if !asked {
				continue
			}
			value, err := valueOf(def, r.Amount)
			switch {
			case err != nil:
				return sel, nil, err
			case r.Duration > 0:
				return sel, nil, unsupported("rusage[%s=...:duration=...] is not supported for a job of qsub that runs: it has no requirement to count from", r.Resource)
			case def.AtHost():
				items = append(items, resource.Item{Name: r.Resource, Value: value})
			default:
				wide = wide.Set(r.Resource, value)
			}
		}
		next.Chunks[i].Items = items
	}
	return next, wide, nil
}

// usageOf returns what a requirement reserves for a kind of chunk.
func usageOf(req resreq.Requirement, kind int) resreq.Usage {
	if len(req.Terms) == 0 {
		return nil
	}
	term := req.Terms[0]
	if len(req.Terms) > 1 {
		term = req.Terms[kind]
	}
	if len(term.Rusage) == 0 {
		return nil
	}
	return term.Rusage[0]
}
