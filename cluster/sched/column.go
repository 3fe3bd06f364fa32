package sched

import "rampart/fsm/resource"

// A column is one consumable resource over all vnodes. Its tree keeps, over
// ranges of hosts, the most that one host has free, so that hosts that are too
// full are never looked at.
type column struct {
	def         resource.Def
	free, total []int64 // by node
	tree        []int64 // a heap-shaped tree over the hosts; leaves from size on
	size        int
	allFree     int64  // over all hosts
	allTotal    int64  // over all nodes
	pools       *pools // nil: nothing is shared
	moved       bool   // what is shared has changed since it was counted
}

// columns are the columns of a world, in the order in which they were asked for.
type columns []*column

// of returns the one of a resource; nil: nobody has asked for it.
func (all columns) of(resource string) *column {
	for _, c := range all {
		if c.def.Name == resource {
			return c
		}
	}
	return nil
}

// grow makes the tree for n hosts.
func (c *column) grow(n int) {
	for c.size = 1; c.size < n; c.size *= 2 {
	}
	c.tree = make([]int64, 2*c.size)
	for i := range c.tree {
		c.tree[i] = -1 // less than any request
	}
}

// set stores what host h has free. One of which more is taken than it has takes nothing of what others have.
func (c *column) set(h int, free int64) {
	i := h + c.size
	c.allFree += max(0, free) - max(0, c.tree[i])
	c.tree[i] = free
	for i /= 2; i > 0; i /= 2 {
		most := max(c.tree[2*i], c.tree[2*i+1])
		if c.tree[i] == most {
			return // nor do those above it change
		}
		c.tree[i] = most
	}
}

// next returns the first host from h on that has at least the amount free, -1 if
// there is none.
func (c *column) next(h int, amount int64) int {
	if h >= c.size {
		return -1
	}
	i := h + c.size
	for c.tree[i] < amount {
		for i&1 == 1 { // a right child: what follows is beyond its parent
			i /= 2
		}
		if i == 0 {
			return -1
		}
		i++
	}
	for i < c.size {
		i *= 2
		if c.tree[i] < amount {
			i++
		}
	}
	return i - c.size
}
