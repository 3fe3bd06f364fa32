package sched

import (
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// overSlots returns the limit on slots, or on another amount, wherever they are, that one job more like j exceeds.
func (c *cycle) overSlots(j *state.Job) (why state.Wait, over bool) {
	b := c.planner.boundsOf(j)
	if b == nil || len(c.free.hosts) == 0 {
		return why, false
	}
	layout, _ := j.Attrs.Get(lsf.JobLayout, "")
	c.free.slots.took = c.free.slots.took[:0]
	for _, counter := range b.all {
		def := counter.def
		if !counter.Wide() && !counter.shared() || !counter.shared() && lsf.ReadLayout(layout).Once(def.Name) {
			continue // of what a host gives once the sum says more than the job gets
		}
		need := charged(def, j.Resources)
		left := c.free.room(counter, 0)
		if need == 0 || need <= left {
			continue
		}
		most := c.free.slots.of.most(counter.slotRule, 0)
		w := state.Wait{
			Code: state.WaitLimit, Resource: def.Name, Queue: j.Queue, Request: text(def, need), Free: text(def, max(0, left)), Total: text(def, most),
		}
		switch counter.Reason {
		case lsf.ReasonQueue:
			w.Subject = j.Subjects()[0]
		case lsf.ReasonQueueUser:
			w.Subject = state.Subject{Kind: 'u'}
		default:
			w = state.Wait{Code: state.WaitSlots, Resource: counter.Resource, Words: lsf.AtHosts(counter.Reason, nil)}
		}
		return w, true
	}
	return why, false
}

// atLimits returns the limit on the slots of hosts that keeps a class from those that have what else it asks for, if there are such
// hosts.
func (c *cycle) atLimits(cl *class) (state.Wait, bool) {
	if cl.bounds == nil {
		return state.Wait{}, false
	}
	var by *counter
	var hosts []string
	c.free.slots.took = c.free.slots.took[:0]
	for h := range c.free.hosts {
		left, bound := c.free.allowed(h, cl.bounds)
		if by != nil {
			left, bound = c.free.room(by, h), by
		}
		if bound == nil || !c.limitedOn(h, cl, left) {
			continue
		}
		by, hosts = bound, append(hosts, string(c.free.hosts[h].key.mom))
	}
	if by == nil {
		by, hosts = c.atAmounts(cl)
	}
	if by == nil {
		return state.Wait{}, false
	}
	return state.Wait{Code: state.WaitSlots, Resource: by.Resource, Words: lsf.AtHosts(by.Reason, hosts)}, true
}

// atAmounts returns the limit on another amount than slots that keeps a class from hosts that have what it asks for, and these hosts.
func (c *cycle) atAmounts(cl *class) (by *counter, hosts []string) {
	for h := range c.free.hosts {
		named, ok := c.free.namedBy(cl.chunks[0])
		if !ok || named >= 0 && named != h {
			continue
		}
		for i := range cl.chunks {
			needs := cl.chunks[i].needs
			if cl.place.Arrangement == spec.Pack {
				needs = cl.sums
			}
			over := c.free.overAmount(h, cl.bounds, needs)
			if over == nil || by != nil && over != by || !c.free.hasOn(h, needs) || !slices.ContainsFunc(c.free.hosts[h].nodes, func(n int) bool { return c.free.serves(n, cl, cl.chunks[i]) }) {
				continue
			}
			by, hosts = over, append(hosts, string(c.free.hosts[h].key.mom))
			break
		}
	}
	if by != nil && by.Wide() {
		hosts = nil
	}
	return by, hosts
}

// isSlots reports whether slots are what is needed.
func isSlots(n need) bool { return n.def.Name == "ncpus" }

// limitedOn reports whether a host that has what else some chunk of a class asks for may give too few slots to it.
func (c *cycle) limitedOn(h int, cl *class, left int64) bool {
	named, ok := c.free.namedBy(cl.chunks[0])
	if !ok || named >= 0 && named != h || !slices.ContainsFunc(cl.sums, isSlots) {
		return false
	}
	for i := range cl.chunks {
		ch := &cl.chunks[i]
		slots, needs := ch.of("ncpus"), ch.needs
		switch {
		case cl.place.Arrangement == spec.Pack:
			slots, needs = cl.slots(), cl.sums
		case !cl.apart() && left > 0: // as many as there are, of all
			slots = min(cl.slots(), c.free.freeOn(h, c.free.column(cl.sums[slices.IndexFunc(cl.sums, isSlots)].def)))
		}
		needs = slices.DeleteFunc(slices.Clone(needs), isSlots)
		if left < slots && c.free.hasOn(h, needs) && slices.ContainsFunc(c.free.hosts[h].nodes, func(i int) bool { return c.free.serves(i, cl, *ch) }) {
			return true
		}
	}
	return false
}
