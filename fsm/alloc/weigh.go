package alloc

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// leading are the resources that are compared first, in this order.
var leading = [...]string{"ncpus", "ssinodes", "mem", "vmem", "naccelerators", "accelerator_memory"}

// A chunk is one that may be kept.
type chunk struct {
	index int
	used  bool
	shape *shape
}

// A shape is what a chunk has in all. Chunks that follow each other and have the same share
// one.
type shape struct {
	entries int
	some    [len(leading)]bool // not 0
	sums    map[string]resource.Quantity
	names   []string // of the others, by name
}

// available returns the chunks besides those of the primary execution host, the smallest
// first.
func available(a granted, failed func(pbs.VnodeName) bool, t resource.Table) ([]chunk, error) {
	d := deriver{placed: inExecVnode(a.ExecVnode), table: t}
	var all []chunk
	for i, c := range a.ExecVnode {
		if a.Primary(i) || failed != nil && slices.ContainsFunc(c.Parts, func(p spec.ExecPart) bool { return failed(p.Vnode) }) {
			continue
		}
		request := a.chunks[i].Items
		if n := len(all); n > 0 && alike(c, d.left) && slices.Equal(request, d.old) {
			all = append(all, chunk{index: i, shape: all[n-1].shape})
			continue
		}
		items, err := d.request(c, request)
		if err != nil {
			return nil, err
		}
		s, err := weigh(c, items, t)
		if err != nil {
			return nil, err
		}
		all = append(all, chunk{index: i, shape: s})
	}
	slices.SortFunc(all, func(x, y chunk) int { return cmp.Or(x.shape.compare(y.shape), cmp.Compare(y.index, x.index)) })
	return all, nil
}

// weigh sums up a chunk with what is requested for it.
func weigh(c spec.ExecChunk, items resource.List, t resource.Table) (*shape, error) {
	one := &shape{sums: make(map[string]resource.Quantity, len(items))}
	times := map[string]int{}
	for _, p := range c.Parts {
		for _, it := range p.Items {
			times[it.Name]++
		}
	}
	for _, it := range items {
		q, err := parse(it, t)
		if err != nil {
			return nil, err
		}
		one.sums[it.Name] = q
		if i := slices.Index(leading[:], it.Name); i >= 0 {
			if one.some[i] = !q.IsZero(); one.some[i] {
				one.entries++
			}
			continue
		}
		one.entries += max(times[it.Name], 1)
		one.names = append(one.names, it.Name)
	}
	slices.Sort(one.names)
	return one, nil
}

func (s *shape) compare(o *shape) int {
	if s == o {
		return 0
	}
	if by := cmp.Compare(s.entries, o.entries); by != 0 {
		return by
	}
	for i := range leading {
		if s.some[i] != o.some[i] {
			if o.some[i] {
				return -1
			}
			return 1
		}
	}
	if by := slices.Compare(s.names, o.names); by != 0 {
		return by
	}
	for i, name := range leading {
		if s.some[i] {
			if by := s.sums[name].Cmp(o.sums[name]); by != 0 {
				return by
			}
		}
	}
	for _, name := range s.names {
		if by := s.sums[name].Cmp(o.sums[name]); by != 0 {
			return by
		}
	}
	return 0
}
