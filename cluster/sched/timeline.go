package sched

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tidwall/btree"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
)

// An event is the beginning or the end of a hold.
type event struct {
	at    pbs.Time
	n     uint64 // no two have the same
	hold  *calendar.Hold
	usual [len(usualResources)]int64 // of the hold, as all that follows: a cycle goes through very many events, and reads no holds
	node  int32
	on    int32 // the host of that
	takes bool
	when  when
	kind  calendar.Kind
	alone bool
	host  bool
	more  bool // it has of other resources, too
}

// usualResources are the resources whose amounts events know.
var usualResources = [...]string{"ncpus", "mem"}

// when says whether something happens as far as is expected, and whether it does at the latest.
type when uint8

const (
	likely when = 1 << iota
	certain
)

// newEvent returns the beginning or the end of a hold.
func newEvent(at pbs.Time, n uint64, h *calendar.Hold, node, on int32, takes bool, by when) event {
	e := event{at: at, n: n, hold: h, node: node, on: on, takes: takes, when: by, kind: h.Kind, alone: h.Alone, host: h.Host}
	for i := range h.Items {
		k := slices.Index(usualResources[:], h.Items[i].Resource)
		if k < 0 {
			e.more = true
			continue
		}
		e.usual[k] += h.Items[i].Amount
	}
	return e
}

// change adds what the event gives to what a node has free of each resource, or takes it away.
func (e *event) change(add func(resource string, by int64)) {
	sign := int64(1)
	if e.takes {
		sign = -1
	}
	for k, amount := range e.usual {
		if amount != 0 {
			add(usualResources[k], sign*amount)
		}
	}
	if !e.more {
		return
	}
	for _, it := range e.hold.Items {
		if !slices.Contains(usualResources[:], it.Resource) {
			add(it.Resource, sign*it.Amount)
		}
	}
}

// compare tells which event comes first: who gives back makes room for who takes.
func (e *event) compare(o *event) int {
	switch {
	case e.at != o.at:
		return cmp.Compare(e.at, o.at)
	case e.takes != o.takes && e.takes:
		return 1
	case e.takes != o.takes:
		return -1
	}
	return cmp.Compare(e.n, o.n)
}

// A timeline is what begins and ends on all vnodes, in the order in which it happens. It is kept from one cycle to the next: what a
// calendar says that was read anew takes the place of what it said before. What a cycle does to calendars is not in it.
type timeline struct {
	events *btree.BTreeG[event]
	vnodes []listed // by node of the world
	n      uint64   // events that there were until now
	apart  []bool   // by node: the cycle has changed its calendar, and future.own has what begins and ends there

	changes  uint64   // how often something of it has changed
	at       pbs.Time // of the last look at all of it
	noted    notes    // since then, as far as is known
	restless []int32  // nodes that are read anew before anything begins or ends there
	gone     []event  // what it does not have any more
	come     []event  // what is to take the place of that
}

// note marks a node to be read again.
func (t *timeline) note(node int32) { t.noted.note(node, len(t.vnodes)) }

// listed holds what a timeline has of a vnode.
type listed struct {
	of      *foreseen // nil: nothing
	version uint64    // of that
	events  []event
	on      int32 // its host
	fades   bool  // less of a hold is held as time passes
	early   bool  // it holds no longer than until before the first of the events
}

// follow brings the timeline up to the calendars of the vnodes of a world. It looks at those vnodes that have changed or were noted, and at
// those where something was to begin or end by now.
func (t *timeline) follow(f *future, w *world) {
	f.settle()
	if t.events == nil || len(t.vnodes) != len(w.nodes) {
		t.vnodes, t.noted.lost = make([]listed, len(w.nodes)), true
		t.renew()
	}
	f.shrinking, t.gone, t.come = f.shrinking[:0], t.gone[:0], t.come[:0]
	restless := t.restless
	t.restless = nil
	if t.noted.lost || f.now < t.at || f.view.Fades() {
		for i := range w.nodes {
			t.look(f, w, int32(i))
		}
	} else {
		for _, i := range slices.Concat(t.noted.nodes, restless, t.due(f.now)) {
			t.look(f, w, i)
		}
	}
	t.at = f.now
	t.noted.forget()
	if len(t.gone)+len(t.come) > 0 {
		t.changes++
	}
	if len(t.gone)+len(t.come) > t.events.Len()/2 {
		t.renew()
		return
	}
	for _, e := range t.gone {
		t.events.Delete(e)
	}
	for _, e := range t.come {
		t.events.Set(e)
	}
}

// due returns the nodes where something was to begin or end until a time.
func (t *timeline) due(now pbs.Time) (nodes []int32) {
	t.events.Ascend(event{}, func(e event) bool {
		if e.at <= now {
			nodes = append(nodes, e.node)
		}
		return e.at <= now
	})
	return nodes
}

// look lists anew what begins and ends on a node if that is not what it was.
func (t *timeline) look(f *future, w *world, i int32) {
	l, vn, on := &t.vnodes[i], w.nodes[i].vnode, int32(w.nodes[i].host)
	if l.of == nil || l.of.version != l.version || l.on != on || !l.of.holds(vn, f.now) {
		s := f.of(vn, true)
		t.gone = append(t.gone, l.events...)
		l.of, l.version, l.on, l.fades, s.node = s, s.version, on, false, i
		l.events = t.list(l.events[:0], s.listed(), i, f.now)
		t.come = append(t.come, l.events...)
		first := calendar.Forever
		for _, e := range l.events {
			first = min(first, e.at)
		}
		l.early = s.till < first
		for _, h := range s.listed() {
			l.fades = l.fades || h.Left != nil
		}
	}
	if l.early {
		t.restless = append(t.restless, i)
	}
	if !l.fades {
		return
	}
	for _, h := range l.of.Holds() {
		if h.Left != nil {
			f.shrinking = append(f.shrinking, shrinking{int(i), h})
		}
	}
}

// renew sorts all events anew, which takes less time than to replace most of them.
func (t *timeline) renew() {
	var all []event
	for _, l := range t.vnodes {
		all = append(all, l.events...)
	}
	slices.SortFunc(all, func(a, b event) int { return a.compare(&b) })
	t.events = btree.NewBTreeGOptions(func(a, b event) bool { return a.compare(&b) < 0 }, btree.Options{NoLocks: true})
	for _, e := range all {
		t.events.Load(e)
	}
}

// list adds the events of holds to others: when one begins, if that is still to come, and when it ends, which may be known only as far as
// is expected. What ends never has no end.
func (t *timeline) list(all []event, holds []*calendar.Hold, node int32, now pbs.Time) []event {
	add := func(at pbs.Time, h *calendar.Hold, takes bool, by when) {
		if at < calendar.Forever {
			t.n++
			all = append(all, newEvent(at, t.n, h, node, t.vnodes[node].on, takes, by))
		}
	}
	for _, h := range holds {
		if h.From > now {
			add(h.From, h, true, likely|certain)
		}
		switch end := h.End(); {
		case h.Kind == calendar.Kept: // it has nothing of the vnode for those who want to be certain
			add(end, h, false, likely)
		case end == h.Until || h.Kind == calendar.Top:
			add(end, h, false, likely|certain)
		default:
			add(end, h, false, likely)
			add(h.Until, h, false, certain)
		}
	}
	return all
}

// listed returns the holds of a vnode without what the cycle has done to them.
func (s *foreseen) listed() []*calendar.Hold {
	if s.before != nil {
		return s.before.Holds()
	}
	return s.Holds()
}

// coming returns what is to come on all vnodes in its order, after timeline.follow: as far as is expected, or what is certain.
func (f *future) coming(sure bool) iter.Seq[event] {
	by := likely
	if sure {
		by = certain
	}
	return func(yield func(event) bool) {
		f.all(func(e event) bool { return e.when&by == 0 || yield(e) })
	}
}

// all yields all of that, what is but expected and what is certain.
func (f *future) all(yield func(event) bool) {
	own, more := f.changes(), true
	t := &f.kept.timeline
	t.events.Scan(func(e event) bool {
		for ; more && len(own) > 0 && own[0].compare(&e) < 0; own = own[1:] {
			more = yield(own[0])
		}
		if more && !t.apart[e.node] {
			more = yield(e)
		}
		return more
	})
	for ; more && len(own) > 0; own = own[1:] {
		more = yield(own[0])
	}
}

// changes returns what is to come on the vnodes of which the cycle has changed something.
func (f *future) changes() []event {
	t := &f.kept.timeline
	if f.own == nil {
		f.own = []event{}
		t.apart = slices.Grow(t.apart[:0], len(t.vnodes))[:len(t.vnodes)]
		clear(t.apart)
		for _, s := range f.kept.changed {
			f.own = t.list(f.own, s.Holds(), s.node, f.now)
			t.apart[s.node] = t.apart[s.node] || t.vnodes[s.node].of == s
		}
		slices.SortFunc(f.own, func(a, b event) int { return a.compare(&b) })
	}
	return f.own
}
