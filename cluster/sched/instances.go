package sched

import "slices"

// Of a resource that is reserved for the job as a whole, PER_JOB, each instance gives the amount once, on however many of its hosts the job
// is (specification: reservation section 4). Hosts that share an amount are of one instance, any other host is one of its own. The first
// chunk of a term on an instance has the amount; those that come later need none.

// pooled reports whether hosts share something that a kind of chunk has once of each instance.
func (ch *chunk) pooled(w *world) bool {
	return slices.ContainsFunc(ch.perJob, func(n need) bool { return w.column(n.def).pools != nil })
}

// needsOn returns what the next chunk of a kind needs on a host: not what the attempt has of the host's instances for the term.
func (ch *chunk) needsOn(w *world, h int) []need {
	if !ch.pooled(w) {
		return ch.needs
	}
	return ch.without(func(n need) bool { return w.column(n.def).paid(w, h, ch.term) })
}

// without returns the needs of a kind but for some of those that instances give once.
func (ch *chunk) without(some func(need) bool) []need {
	var gone []string
	for _, n := range ch.perJob {
		if some(n) {
			gone = append(gone, n.def.Name)
		}
	}
	if gone == nil {
		return ch.needs
	}
	return slices.DeleteFunc(slices.Clone(ch.needs), func(n need) bool { return slices.Contains(gone, n.def.Name) })
}

// paid reports whether the attempt has placed a chunk of a term on a host that shares the amount of a column with another one.
func (c *column) paid(w *world, h, term int) bool {
	if c.pools == nil {
		return false
	}
	for _, i := range w.hosts[h].nodes {
		pool := c.at(i)
		if pool < 0 || !c.pools.shared[pool] {
			continue
		}
		if slices.ContainsFunc(w.touched, func(other int) bool {
			return w.carries(other, term) && slices.ContainsFunc(w.hosts[other].nodes, func(k int) bool { return w.nodes[k].mine == w.tried && c.at(k) == pool })
		}) {
			return true
		}
	}
	return false
}

// begun reports whether the attempt has placed a chunk of the term.
func (ch *chunk) begun(w *world) bool {
	return slices.ContainsFunc(w.touched, func(h int) bool { return w.carries(h, ch.term) })
}

// beyond returns what each host has to have for a chunk of a kind once the attempt has placed one of the term: more only where the
// instance has given nothing yet.
func (ch *chunk) beyond(w *world) []need {
	return ch.without(func(n need) bool { return w.column(n.def).pools != nil })
}
