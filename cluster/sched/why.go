package sched

import (
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// why finds the words for a class that did not fit: whether it can ever run, and
// what is short.
func (c *cycle) why(cl *class) *reason {
	if wait, at := c.atLimits(cl); at {
		return &reason{wait}
	}
	if wait, shut := c.atGate(cl); shut {
		return &reason{wait}
	}
	wait, short := c.cause(cl)
	if short.def.Name != "" {
		never := wait.Never
		wait = state.Short(wait.Code, short.words())
		wait.Never = never
	}
	return &reason{wait}
}

// cause is why without the amounts, which are those of the shortfall, if there is one.
func (c *cycle) cause(cl *class) (wait state.Wait, short shortfall) {
	if cl.bad != "" {
		return state.Wait{Code: state.WaitMalformed, Words: cl.bad, Never: true}, short
	}
	if len(c.free.nodes) == 0 {
		return because(state.WaitBusy), short
	}
	if name, unmet := c.unmet(cl); unmet {
		return state.Wait{Code: state.WaitShort, Resource: name}, short
	}
	if c.idle == nil {
		c.idle = c.planner.empty(c.view)
	}
	lacks := func(s shortfall, ever bool) (state.Wait, shortfall) {
		return state.Wait{Code: state.WaitShort, Resource: s.def.Name, Never: ever}, s
	}
	if s, ok := c.overall(cl, beyondTotal); ok {
		return lacks(s, true)
	}
	h, ok := c.fitsIdle(cl)
	if !ok {
		return c.whyNever(cl), short
	}
	if c.allBusy() {
		return because(state.WaitBusy), short
	}
	if s, ok := c.overall(cl, beyondFree); ok {
		return lacks(s, false)
	}
	if set := cl.fit.set; set != "" {
		return state.Wait{Code: state.WaitSet, Words: set}, short
	}
	if s, ok := c.shortOn(h, cl); ok {
		return lacks(s, false)
	}
	return because(state.WaitBusy), short
}

// A shortfall is a need of which there is too little.
type shortfall struct {
	need
	free, total int64
}

func (s shortfall) words() *resource.Shortage {
	return &resource.Shortage{
		Resource: s.def.Name, Request: text(s.def, s.amount), Free: text(s.def, s.free), Offered: text(s.def, s.total),
	}
}

// allBusy reports whether no vnode has a cpu left; PBS counts nothing else then (specification:
// breadth section 4).
func (c *cycle) allBusy() bool {
	def, ok := c.view.Resource("ncpus")
	if !ok {
		return false
	}
	return c.free.column(def).allFree == 0 && c.idle.column(def).allTotal > 0
}

// fitsIdle returns the first host on which the class fits if nothing runs there.
func (c *cycle) fitsIdle(cl *class) (int, bool) {
	if f := &cl.fit; f.age != c.planner.idleAge || cl.asks() {
		f.host, f.ok = c.idle.fits(cl)
		f.set = c.idle.foundIn
		f.age = c.planner.idleAge
	}
	return cl.fit.host, cl.fit.ok
}

func never(w state.Wait) state.Wait {
	w.Never = true
	return w
}

func beyondTotal(want, _, total int64) bool { return want > total }
func beyondFree(want, free, _ int64) bool   { return want > free }

// overall returns the first resource of which all vnodes together have too little.
func (c *cycle) overall(cl *class, beyond func(want, free, total int64) bool) (short shortfall, found bool) {
	for _, s := range cl.sums {
		free, total := c.free.column(s.def).allFree, c.idle.column(s.def).allTotal
		free = min(free, total) // what hosts share is counted at each of them
		if beyond(s.amount, free, total) {
			if s.amount > total {
				free = total // as if nothing ran
			}
			return shortfall{s, free, total}, true
		}
	}
	return short, false
}

// shortOn returns what a host, which would be enough if it were idle, lacks now; of several
// hosts nothing is told.
func (c *cycle) shortOn(h int, cl *class) (short shortfall, found bool) {
	if h < 0 {
		return short, false
	}
	busy, ok := c.free.byHost[c.idle.hosts[h].key]
	if !ok {
		return short, false
	}
	for _, s := range cl.sums {
		free := c.free.freeOn(busy, c.free.column(s.def))
		if s.amount > free {
			return shortfall{s, free, c.idle.freeOn(h, c.idle.column(s.def))}, true
		}
	}
	return short, false
}

// whyNever tells apart a chunk that no host can give, and chunks that no one host
// can give together.
func (c *cycle) whyNever(cl *class) state.Wait {
	for _, ch := range cl.chunks {
		one := cl.alone(ch)
		if _, ok := c.idle.fits(one); !ok {
			return never(state.Short(state.WaitShort, c.lacking(one)))
		}
	}
	if c.idle.kept(cl) {
		return never(because(state.WaitNoSpan))
	}
	if cl.place.Arrangement == spec.Pack {
		return never(state.Short(state.WaitShort, c.largest(cl)))
	}
	return never(because(state.WaitSpread))
}

// lacking says what no vnode or host has enough of for one chunk.
func (c *cycle) lacking(one *class) *resource.Shortage {
	ch := one.chunks[0]
	if _, ok := c.idle.namedBy(ch); !ok {
		name := "host"
		if ch.vnode != "" {
			name = "vnode"
		}
		return &resource.Shortage{Resource: name}
	}
	for _, p := range ch.props {
		if s := c.nobodyHas(p); s != nil {
			return s
		}
	}
	return c.largest(one)
}

// nobodyHas tells how the first vnode that has a value of a property differs from what is asked for, unless some vnode has what is;
// of numbers it is the vnode that has most.
func (c *cycle) nobodyHas(p prop) *resource.Shortage {
	var first string
	for i := range c.idle.nodes {
		offer, ok := c.idle.nodes[i].offer.Get(p.def.Name)
		if resource.Matches(p.def, p.want, offer, ok) {
			return nil
		}
		if first == "" || resource.Exceeds(p.def, offer, first) {
			first = offer
		}
	}
	return resource.Unlike(p.def, p.want, first)
}

// largest compares the request with the most that one host has.
func (c *cycle) largest(cl *class) *resource.Shortage {
	for _, s := range cl.sums {
		most := max(0, c.idle.column(s.def).tree[1])
		if s.amount > most {
			return shortfall{s, most, most}.words()
		}
	}
	// Each is there, and never together where the properties are.
	if len(cl.sums) > 0 {
		return &resource.Shortage{Resource: cl.sums[0].def.Name}
	}
	return &resource.Shortage{Resource: "place"}
}
