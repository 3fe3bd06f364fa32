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
	index   int
	used    bool
	entries int
	has     [len(leading)]bool
	sums    map[string]resource.Quantity
	names   []string // of the others, by name
}

// available returns the chunks besides those of the primary execution host, the smallest
// first.
func available(a Assignment, failed func(pbs.VnodeName) bool, t resource.Table) ([]*chunk, error) {
	placed := inExecVnode(a.ExecVnode)
	var all []*chunk
	for i, c := range a.ExecVnode {
		if a.Primary(i) || failed != nil && slices.ContainsFunc(c.Parts, func(p spec.ExecPart) bool { return failed(p.Vnode) }) {
			continue
		}
		one, err := weigh(i, c, a.Select.Chunks[i].Items, placed, t)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y *chunk) int { return cmp.Or(x.compare(y), cmp.Compare(y.index, x.index)) })
	return all, nil
}

func weigh(index int, c spec.ExecChunk, request resource.List, placed map[string]bool, t resource.Table) (*chunk, error) {
	items, err := derive(c, request, placed, t)
	if err != nil {
		return nil, err
	}
	one := &chunk{index: index, sums: make(map[string]resource.Quantity, len(items))}
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
			if one.has[i] = !q.IsZero(); one.has[i] {
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

func (c *chunk) compare(o *chunk) int {
	if by := cmp.Compare(c.entries, o.entries); by != 0 {
		return by
	}
	for i := range leading {
		if c.has[i] != o.has[i] {
			if o.has[i] {
				return -1
			}
			return 1
		}
	}
	if by := slices.Compare(c.names, o.names); by != 0 {
		return by
	}
	for i, name := range leading {
		if c.has[i] {
			if by := c.sums[name].Cmp(o.sums[name]); by != 0 {
				return by
			}
		}
	}
	for _, name := range c.names {
		if by := c.sums[name].Cmp(o.sums[name]); by != 0 {
			return by
		}
	}
	return 0
}

// satisfies tells whether the chunk has what is wanted: numbers at least as large, others
// equal.
func (c *chunk) satisfies(want resource.List, t resource.Table) bool {
	for _, it := range want {
		def, _ := t.Resource(it.Name)
		q, err := def.Parse(it.Value)
		if err != nil {
			return false
		}
		have, ok := c.sums[it.Name]
		if !ok && def.Type.Numeric() && q.IsZero() {
			continue
		}
		if !resource.Matches(def, q, have.String(), ok) {
			return false
		}
	}
	return true
}
