package spec

import (
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Complete returns the schedselect: each chunk with its count and with the
// defaults that it lacks appended, every value in canonical form ("True", "10mb").
// An unknown resource is refused with UnknownResource, one that is not a property
// of hosts with BadSelect. What is returned can be parsed again.
func Complete(sel Select, defaults resource.List, t resource.Table) (Select, error) {
	next := Select{Chunks: make([]Chunk, 0, len(sel.Chunks))}
	size := 0
	for _, c := range sel.Chunks {
		items, err := completeItems(c.Items, defaults, t)
		if err != nil {
			return Select{}, err
		}
		if size += chunkSize(items); size > maxText || len(items) > maxItems {
			return Select{}, malformedSelect()
		}
		next.Chunks = append(next.Chunks, Chunk{Count: c.Count, Items: items})
	}
	return next, nil
}

func completeItems(given, defaults resource.List, t resource.Table) (resource.List, error) {
	items := make(resource.List, 0, len(given)+len(defaults))
	items = append(items, given...)
	for _, d := range defaults {
		if _, has := given.Get(d.Name); !has {
			items = append(items, d)
		}
	}
	for i, item := range items {
		value, err := canonical(item, t)
		if err != nil {
			return nil, err
		}
		items[i].Value = value
	}
	return items, nil
}

// chunkSize returns the greatest length to which a chunk is printed.
func chunkSize(items resource.List) int {
	const count, signs = len("+131072"), len(`:=""`)
	size := count
	for _, item := range items {
		size += len(item.Name) + len(item.Value) + signs
	}
	return size
}

func canonical(item resource.Item, t resource.Table) (string, error) {
	def, ok := t.Resource(item.Name)
	if !ok {
		return "", pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", item.Name)
	}
	if !def.AtHost() {
		return "", pbs.Errorf(pbs.BadSelect, "%s%s", pbs.BadSelect.Text(), item.Name)
	}
	q, err := def.Parse(item.Value)
	if err != nil || both(q.String()) {
		return "", malformedSelect()
	}
	return q.String(), nil
}

// Sum returns what the select asks for in all: Resource_List.<consumable> and
// nodect. Sizes are told in the smallest unit that the select uses: three times 1gb
// are 3gb.
func Sum(sel Select, t resource.Table) (resource.List, error) {
	sums := map[string]resource.Quantity{}
	for _, c := range sel.Grouped().Chunks {
		for _, item := range c.Items {
			def, ok := t.Resource(item.Name)
			if !ok {
				return nil, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", item.Name)
			}
			if !def.Consumable() {
				continue
			}
			if err := addTimes(sums, def, item.Value, c.Count); err != nil {
				return nil, err
			}
		}
	}
	list := make([]resource.Item, 0, len(sums)+1)
	for name, q := range sums { // Sorted makes the order one
		list = append(list, resource.Item{Name: name, Value: q.String()})
	}
	list = append(list, resource.Item{Name: "nodect", Value: strconv.Itoa(sel.Total())})
	return resource.Sorted(list), nil
}

func addTimes(sums map[string]resource.Quantity, def resource.Def, value string, count int) error {
	q, err := def.Parse(value)
	if err == nil {
		q, err = q.Mul(int64(count))
	}
	if before, ok := sums[def.Name]; ok && err == nil {
		q, err = before.Add(q)
	}
	if err != nil {
		return pbs.Attribute(pbs.BadAttributeValue, "Resource_List."+def.Name)
	}
	sums[def.Name] = q
	return nil
}

// FromList turns resources that were asked for without a select ("-l ncpus=4") into
// one chunk with those of them that are properties of hosts. PBS packs such a job.
func FromList(list resource.List, t resource.Table) (Select, Place) {
	c := Chunk{Count: 1}
	for _, item := range list {
		if def, ok := t.Resource(item.Name); ok && def.AtHost() {
			c.Items = append(c.Items, item)
		}
	}
	return Select{Chunks: []Chunk{c}}, Place{Arrangement: Pack}
}
