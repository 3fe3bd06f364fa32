package sched

import (
	"math"
	"slices"

	"rampart/fsm/pbs"
)

// Of many jobs of a cycle that wait for one host each goes through the same that is to come. From the second one on peaks say which events
// leave a host enough, so that the others need not be looked at.

// peaks holds what hosts have of the usual resources now, and after each event by which somebody gives something back, as if the cycle
// changed nothing any more. They are of a cycle, in which others have no more than that.
type peaks struct {
	cycle, changes uint64 // kept.cycle, and timeline.changes, that they are of
	walks          int    // of that cycle, until now

	now   int                          // that many come first that are of hosts now
	at    []pbs.Time                   // in their order; those of now have none
	hosts []int32                      // the same
	most  [len(usualResources)][]int64 // trees of what is left of each: the root is at 1, the first one at size
	size  int                          // 0: they were not made
	free  [len(usualResources)][]int64 // by node, until they are made
	apart []bool                       // hosts of which the cycle has changed something
	mine  []event                      // of these
	due   []relief                     // of them, those that leave enough
}

// A relief says that somebody gives something back on a host.
type relief struct {
	at   pbs.Time
	host int32
}

// peaksFor returns the peaks for what is counted; nil: it is to be gone through all that is to come.
func (c *cycle) peaksFor(n *counted) *peaks {
	k := c.future.kept
	p := &k.peaks
	if slices.Contains(n.usual, -1) {
		return nil
	}
	if p.cycle != k.cycle {
		p.cycle, p.walks, p.size = k.cycle, 0, 0
	}
	if p.walks++; p.walks == 1 { // of one job it is no gain
		return nil
	}
	if p.size == 0 || p.changes != k.timeline.changes {
		p.changes = k.timeline.changes
		p.read(&k.timeline, c.free)
	}
	return p
}

// read goes through all that is to come.
func (p *peaks) read(t *timeline, w *world) {
	p.at, p.hosts, p.now = p.at[:0], p.hosts[:0], len(w.hosts)
	for p.size = 1; p.size < p.now+t.events.Len(); {
		p.size *= 2
	}
	for k, name := range usualResources {
		p.most[k] = slices.Grow(p.most[k][:0], 2*p.size)[:2*p.size]
		p.free[k] = p.free[k][:0]
		if col := w.columns.of(name); col != nil {
			p.free[k] = append(p.free[k], col.free...)
		}
	}
	for h := range w.hosts {
		p.note(0, int32(h), &w.hosts[h])
	}
	t.events.Scan(func(e event) bool {
		if e.when&likely == 0 {
			return true
		}
		for k, amount := range e.usual {
			if len(p.free[k]) == 0 {
				continue
			}
			if e.takes {
				amount = -amount
			}
			p.free[k][e.node] += amount
		}
		if !e.takes {
			p.note(e.at, e.on, &w.hosts[e.on])
		}
		return true
	})
	for _, most := range p.most {
		for i := p.size + len(p.at); i < len(most); i++ {
			most[i] = -1 // nothing
		}
		for i := p.size - 1; i > 0; i-- {
			most[i] = max(most[2*i], most[2*i+1])
		}
	}
}

// note notes what a host has; of what nobody has asked for yet that is enough.
func (p *peaks) note(at pbs.Time, on int32, h *host) {
	for k := range usualResources {
		sum := int64(math.MaxInt64)
		if len(p.free[k]) > 0 {
			sum = 0
			for _, i := range h.nodes {
				sum = plus(sum, max(0, p.free[k][i]))
			}
		}
		p.most[k][p.size+len(p.at)] = sum
	}
	p.at, p.hosts = append(p.at, at), append(p.hosts, on)
}

// next returns the first one from one on, of hosts that are not apart, that is enough of everything; -1: none is.
func (p *peaks) next(from int, needs *[len(usualResources)]int64) int {
	for from < len(p.at) {
		if from = p.find(from, needs); from < 0 || !p.apart[p.hosts[from]] {
			return from
		}
		from++
	}
	return -1
}

func (p *peaks) find(from int, needs *[len(usualResources)]int64) int {
	for i := p.size + from; ; {
		enough := true
		for k, need := range needs {
			enough = enough && p.most[k][i] >= need
		}
		switch {
		case enough && i >= p.size:
			return i - p.size
		case enough:
			i *= 2
			continue
		}
		for i&1 == 1 {
			i /= 2
		}
		if i++; i == 1 {
			return -1
		}
	}
}

// aheadByPeaks is aheadOnOne for what has peaks: it looks at the same hosts in the same order, and at some in vain at which the walk
// does not look.
func (c *cycle) aheadByPeaks(p *peaks, n *counted, enough fitness) bool {
	p.part(c, n)
	first, ok := p.first()
	if !ok {
		return false // nobody gives anything back
	}
	p.follow(c, n, first)
	var needs [len(usualResources)]int64
	for k, usual := range n.usual {
		needs[usual] = n.needs[k]
	}
	i, due, at := p.next(0, &needs), p.due, first
	for i >= 0 || len(due) > 0 {
		n.gave = n.gave[:0]
		for ; i >= 0 && p.at[i] <= at; i = p.next(i+1, &needs) {
			n.gave = append(n.gave, int(p.hosts[i]))
		}
		for ; len(due) > 0 && due[0].at == at; due = due[1:] {
			n.gave = append(n.gave, int(due[0].host))
		}
		slices.Sort(n.gave)
		for _, h := range slices.Compact(n.gave) {
			if c.onOneAt(h, at, enough) {
				return true
			}
		}
		at = math.MaxInt64
		if i >= 0 {
			at = p.at[i]
		}
		if len(due) > 0 {
			at = min(at, due[0].at)
		}
	}
	return false
}

// part finds the hosts of which the cycle has changed something, and what is to come there.
func (p *peaks) part(c *cycle, n *counted) {
	f, w := c.future, c.free
	t := &f.kept.timeline
	p.mine = append(p.mine[:0], f.changes()...)
	p.apart = slices.Grow(p.apart[:0], len(w.hosts))[:len(w.hosts)]
	clear(p.apart)
	for i, apart := range t.apart {
		h := w.nodes[i].host
		if !apart || p.apart[h] {
			continue
		}
		p.apart[h] = true
		for _, other := range w.hosts[h].nodes {
			if !t.apart[other] {
				p.mine = append(p.mine, t.vnodes[other].events...)
			}
		}
	}
	p.mine = slices.DeleteFunc(p.mine, func(e event) bool { return e.when&likely == 0 })
	if n.shared {
		slices.SortFunc(p.mine, func(a, b event) int { return a.compare(&b) })
	}
}

// first returns when somebody gives something back for the first time.
func (p *peaks) first() (at pbs.Time, ok bool) {
	at = math.MaxInt64
	for i := p.now; i < len(p.at); i++ {
		if !p.apart[p.hosts[i]] {
			at, ok = p.at[i], true
			break
		}
	}
	if i := slices.IndexFunc(p.mine, func(e event) bool { return !e.takes }); i >= 0 {
		at, ok = min(at, p.mine[i].at), true
	}
	return at, ok
}

// follow finds when hosts have enough of which the cycle has changed something. All of them are looked at at the first time.
func (p *peaks) follow(c *cycle, n *counted, first pbs.Time) {
	hosts := c.free.hosts
	p.due = p.due[:0]
	begun, from := false, 0 // in due, of the present time
	settle := func(next pbs.Time) {
		if !begun && next > first {
			begun, p.due = true, p.due[:0]
			for h, apart := range p.apart {
				if apart {
					p.due = append(p.due, relief{first, int32(h)})
				}
			}
		}
		enough := p.due[:from]
		for _, r := range p.due[from:] {
			if n.mayHave(&hosts[r.host]) {
				enough = append(enough, r)
			}
		}
		p.due, from = enough, len(enough)
	}
	last := pbs.Time(0)
	for i := range p.mine {
		e := &p.mine[i]
		if e.at != last {
			settle(e.at)
			last = e.at
		}
		if n.happen(e); !e.takes {
			p.due = append(p.due, relief{e.at, e.on})
		}
	}
	settle(math.MaxInt64)
}
