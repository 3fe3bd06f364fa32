package sched

import (
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// onSeveral places the chunks one after the other, on as many hosts as it takes: one on each
// host when they are to be scattered, else as many as there is room for.
func (w *world) onSeveral(c *class) (spec.ExecVnode, bool) {
	if c.agree != nil {
		return w.onTerms(c)
	}
	w.attempt()
	placed := make(spec.ExecVnode, 0, c.total())
	for _, ch := range c.chunks {
		if !w.spread(c, ch, &placed) {
			w.undo(placed)
			return nil, false
		}
	}
	return placed, true
}

// spread places all chunks of one kind.
func (w *world) spread(c *class, ch chunk, placed *spec.ExecVnode) bool {
	return w.leftover(c, ch, placed) == 0
}

// leftover places chunks of one kind, and returns how many have no place.
func (w *world) leftover(c *class, ch chunk, placed *spec.ExecVnode) int {
	left := ch.count
	only, ok := w.namedBy(ch)
	if !ok {
		return left
	}
	if ch.by != nil {
		before := w.best
		w.best = w.bestFirst(ch.by)
		defer func() { w.best = before }()
	}
	if only >= 0 {
		w.rankAgain()
		return left - w.some(only, c, ch, left, placed)
	}
	if !ch.pooled(w) {
		return left - w.along(c, ch, ch.needs, left, false, placed)
	}
	if !ch.begun(w) {
		if left -= w.along(c, ch, ch.needs, left, true, placed); left == ch.count {
			return left
		}
	}
	return left - w.along(c, ch, ch.beyond(w), left, false, placed)
}

// along places up to count chunks of one kind on hosts that have so much, in their order, and returns how many; first: on one host only.
func (w *world) along(c *class, ch chunk, needs []need, count int, first bool, placed *spec.ExecVnode) (n int) {
	passes := 1
	if ch.full != nil {
		passes = 2 // a host that cannot be full may still be the last
	}
	for pass := 0; pass < passes && n < count; pass++ {
		for h := range w.having(needs) {
			if pass > 0 && (w.carries(h, ch.term) || count-n >= w.capOn(h, ch.full)) {
				continue
			}
			if n += w.some(h, c, ch, count-n, placed); n == count || first && n > 0 {
				return n
			}
		}
	}
	return n
}

// some places as many chunks of one kind on a host as may and do stand there.
func (w *world) some(h int, c *class, ch chunk, count int, placed *spec.ExecVnode) int {
	if ch.full != nil {
		return w.all(h, c, ch, min(count, w.capOn(h, ch.full)), placed)
	}
	if apart := c.place.Arrangement == spec.Scatter; apart || ch.scatter {
		if apart && w.hosts[h].mine == w.tried || ch.scatter && w.carries(h, ch.term) {
			return 0
		}
		count = 1
	}
	return w.fill(h, c, ch, count, placed)
}

// capOn returns how many chunks of a kind a host has that has as many as a span says.
func (w *world) capOn(h int, span *resreq.Span) int {
	col := w.columns.of("ncpus")
	if col == nil {
		return 0
	}
	var slots int64
	for _, i := range w.hosts[h].nodes {
		slots = plus(slots, col.total[i])
	}
	var names []string
	for _, name := range [...]string{"type", "model"} {
		if v, has := (hostValues{w, h}).Value(name); has {
			names = append(names, v.Text)
		}
	}
	return span.Cap(int(min(slots, lsf.MaxSlots)), names...)
}

// all places so many chunks of one kind on a host, or leaves it as it was.
func (w *world) all(h int, c *class, ch chunk, count int, placed *spec.ExecVnode) int {
	before, touched, took, host := len(*placed), len(w.touched), slices.Clone(w.slots.took), w.hosts[h]
	mine := make([]int, len(host.nodes))
	for k, i := range host.nodes {
		mine[k] = w.nodes[i].mine
	}
	if w.fill(h, c, ch, count, placed) == count {
		return count
	}
	w.undo((*placed)[before:])
	*placed, w.touched, w.slots.took = (*placed)[:before], w.touched[:touched], took
	w.hosts[h].mine, w.hosts[h].term = host.mine, host.term
	for k, i := range host.nodes {
		w.nodes[i].mine = mine[k]
	}
	return 0
}
