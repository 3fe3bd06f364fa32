package sched

import (
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// overSlots returns the limit on slots, wherever they are, that one job more like j exceeds.
func (c *cycle) overSlots(j *state.Job) (why state.Wait, over bool) {
	b := c.planner.boundsOf(j)
	if b == nil || len(c.free.hosts) == 0 {
		return why, false
	}
	def, _ := resource.Lookup("ncpus")
	need := charged(def, j.Resources)
	c.free.slots.took = c.free.slots.took[:0]
	for _, counter := range b.all {
		if !counter.Wide() {
			continue
		}
		left := c.free.room(counter, 0)
		if need <= left {
			continue
		}
		most, _ := counter.Most("", 0)
		w := state.Wait{
			Code: state.WaitLimit, Resource: def.Name, Queue: j.Queue, Request: text(def, need), Free: text(def, max(0, left)), Total: text(def, most),
		}
		switch counter.Reason {
		case lsf.ReasonQueue:
			w.Subject = j.Subjects()[0]
		case lsf.ReasonQueueUser:
			w.Subject = state.Subject{Kind: 'u'}
		default:
			w = state.Wait{Code: state.WaitSlots, Words: lsf.AtHosts(counter.Reason, nil)}
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
		return state.Wait{}, false
	}
	return state.Wait{Code: state.WaitSlots, Words: lsf.AtHosts(by.Reason, hosts)}, true
}

// isSlots tells whether slots are what is needed.
func isSlots(n need) bool { return n.def.Name == "ncpus" }

// limitedOn tells whether a host that has what else some chunk of a class asks for may give too few slots to it.
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
