package resreq

import (
	"cmp"
	"slices"
)

// Keys returns the keys to order hosts by, which are the default where nothing is said.
func (s Simple) Keys() []Key {
	if len(s.Order) > 0 {
		return s.Order
	}
	return defaultOrder
}

// Candidates returns those of the hosts, which are in the order of the configuration, that
// a requirement selects, the best first. A host that has no value of a key comes after those that
// have one, and ties stay in the order of the configuration.
func Candidates[H Host](s Simple, hosts []H, local string, site Site) []H {
	var found []H
	for _, h := range hosts {
		if s.Select.Holds(h, local) {
			found = append(found, h)
		}
	}
	keys := s.Keys()
	slices.SortStableFunc(found, func(a, b H) int {
		for _, k := range keys {
			if c := k.compare(a, b, site); c != 0 {
				return c
			}
		}
		return 0
	})
	return found
}

func (k Key) compare(a, b Host, site Site) int {
	x, okX := a.Value(k.Name)
	y, okY := b.Value(k.Name)
	switch {
	case okX && !okY:
		return -1
	case okY && !okX:
		return 1
	case !okX:
		return 0
	}
	r, _ := site.Resource(k.Name)
	c := cmp.Compare(x.Number, y.Number)
	if r.Increasing == k.Reverse { // a larger value is better
		return -c
	}
	return c
}
