package sched

import (
	"iter"
	"slices"
)

// ranks are the hosts of a world in an order that moves with each start: the best vnode of a host says where
// it stands, and hosts of one rank stand as they were created.
type ranks struct {
	of    [][]int64 // by host
	order []int     // hosts, the best first
	stale []int     // hosts whose use has changed
}

func newRanks(w *world) *ranks {
	r := &ranks{of: make([][]int64, len(w.hosts)), order: make([]int, len(w.hosts))}
	for h := range w.hosts {
		r.of[h], r.order[h] = w.rank(h), h
	}
	slices.SortFunc(r.order, r.compare)
	return r
}

func (r *ranks) compare(a, b int) int {
	if c := slices.Compare(r.of[a], r.of[b]); c != 0 {
		return c
	}
	return a - b
}

// rank brings the vnodes of a host into their order, and returns the rank of the first.
func (w *world) rank(h int) []int64 {
	nodes := w.hosts[h].nodes
	if len(nodes) == 1 {
		return w.order.rankNow(w, nodes[0])
	}
	by := make(map[int][]int64, len(nodes))
	for _, i := range nodes {
		by[i] = w.order.rankNow(w, i)
	}
	compare := func(a, b int) int {
		if c := slices.Compare(by[a], by[b]); c != 0 {
			return c
		}
		return a - b
	}
	if !slices.IsSortedFunc(nodes, compare) {
		nodes = slices.Clone(nodes) // copies of the world have them, too
		slices.SortFunc(nodes, compare)
		w.hosts[h].nodes = nodes
	}
	return by[nodes[0]]
}

// moved notes that the use of a host has changed.
func (r *ranks) moved(h int) {
	if r != nil {
		r.stale = append(r.stale, h)
	}
}

// rankAgain finds the places of the hosts whose use has changed.
func (w *world) rankAgain() {
	r := w.ranks
	if r == nil {
		return
	}
	for _, h := range r.stale {
		rank := w.rank(h)
		if slices.Equal(rank, r.of[h]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(r.order, h, r.compare)
		r.order = slices.Delete(r.order, at, at+1)
		r.of[h] = rank
		at, _ = slices.BinarySearchFunc(r.order, h, r.compare)
		r.order = slices.Insert(r.order, at, h)
	}
	r.stale = r.stale[:0]
}

// copyTo makes dst, or new ones if it is nil, a copy.
func (r *ranks) copyTo(dst *ranks) *ranks {
	if r == nil {
		return nil
	}
	if dst == nil {
		dst = &ranks{}
	}
	dst.of, dst.order, dst.stale = append(dst.of[:0], r.of...), append(dst.order[:0], r.order...), append(dst.stale[:0], r.stale...)
	return dst
}

// having iterates, in their order, over the hosts that have enough of everything, added up over their vnodes, and are in
// the present placement set.
func (w *world) having(needs []need) iter.Seq[int] {
	return func(yield func(int) bool) {
		if w.best == nil && w.ranks == nil {
			for h := w.next(0, needs); h >= 0 && yield(h); h = w.next(h+1, needs) {
			}
			return
		}
		if !w.mayHave(needs) {
			return
		}
		order := w.best
		if order == nil {
			w.rankAgain()
			order = w.ranks.order
		}
		for _, h := range order {
			if w.set.on(h) && w.suffices(h, needs) && !yield(h) {
				return
			}
		}
	}
}
