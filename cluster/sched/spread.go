package sched

import "rampart/fsm/spec"

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
	if only >= 0 {
		w.rankAgain()
		return left - w.some(only, c, ch, left, placed)
	}
	for h := range w.having(ch.needs) {
		if left -= w.some(h, c, ch, left, placed); left == 0 {
			break
		}
	}
	return left
}

// some places as many chunks of one kind on a host as may and do stand there.
func (w *world) some(h int, c *class, ch chunk, count int, placed *spec.ExecVnode) int {
	if apart := c.place.Arrangement == spec.Scatter; apart || ch.scatter {
		if apart && w.hosts[h].mine == w.tried || ch.scatter && w.carries(h, ch.term) {
			return 0
		}
		count = 1
	}
	return w.fill(h, c, ch, count, placed)
}
