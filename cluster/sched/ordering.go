package sched

import (
	"iter"
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
)

// An ordering is by what the hosts are ordered that a class may have: order[] of a requirement of LSF. The list is made once in a cycle, of
// what hosts have when it begins, and holds for starts, for what is kept and for what is planned (specification: reservation section 2.4).
type ordering struct {
	text string
	keys []resreq.Key // none: as the world has them
	site resreq.Site

	preferred *lsf.HostChoice // what counts before the keys; nil: nothing
}

// preferring returns the ordering with hosts before others that a choice prefers, which was made of some words.
func (o *ordering) preferring(choice lsf.HostChoice, words string) *ordering {
	if !choice.Prefers() {
		return o
	}
	next := ordering{}
	if o != nil {
		next = *o
	}
	next.text, next.preferred = next.text+"\n"+words, &choice
	return &next
}

// prefers reports whether hosts come before others whatever the keys say.
func (o *ordering) prefers() bool { return o != nil && o.preferred != nil }

// newOrdering returns the ordering by some keys, which are printed as a text; nil: there are none.
func newOrdering(keys []resreq.Key, text string, site resreq.Site) *ordering {
	if len(keys) == 0 {
		return nil
	}
	return &ordering{text: text, keys: keys, site: site}
}

// orderings are the lists of a cycle.
type orderings struct {
	of   *world // as the cycle has found it
	list map[string][]int
	at   map[string][]int // by host, where in the list it stands
}

// places returns by host where in the list it stands.
func (o *orderings) places(by *ordering) []int {
	at, known := o.at[by.text]
	if !known {
		list := o.hosts(by)
		at = make([]int, len(list))
		for place, h := range list {
			at[h] = place
		}
		if o.at == nil {
			o.at = map[string][]int{}
		}
		o.at[by.text] = at
	}
	return at
}

// hosts returns them, the best first.
func (o *orderings) hosts(by *ordering) []int {
	if list, known := o.list[by.text]; known {
		return list
	}
	all := make([]ordered, len(o.of.hosts))
	for h := range all {
		all[h] = ordered{host: h, by: by, values: make([]resreq.Value, len(by.keys)), has: make([]bool, len(by.keys))}
		for k, key := range by.keys {
			all[h].values[k], all[h].has[k] = hostValues{o.of, h}.Value(key.Name)
		}
	}
	if len(by.keys) > 0 {
		all = resreq.Candidates(resreq.Simple{Order: by.keys}, all, "", by.site)
	}
	if by.preferred != nil {
		slices.SortStableFunc(all, func(a, b ordered) int {
			return by.preferred.Level(o.of.hosts[b.host].names()...) - by.preferred.Level(o.of.hosts[a.host].names()...)
		})
	}
	list := make([]int, len(all))
	for i := range all {
		list[i] = all[i].host
	}
	o.list[by.text] = list
	return list
}

// An ordered host has the values that it is compared by.
type ordered struct {
	host   int
	by     *ordering
	values []resreq.Value
	has    []bool
}

// Value returns the value of a key.
func (o ordered) Value(name string) (resreq.Value, bool) {
	for k, key := range o.by.keys {
		if key.Name == name {
			return o.values[k], o.has[k]
		}
	}
	return resreq.Value{}, false
}

// bestFirst returns the hosts in the order that a class wants; nil: in that of the world.
func (w *world) bestFirst(by *ordering) []int {
	if by == nil || w.orderings == nil {
		return nil
	}
	return w.orderings.hosts(by)
}

// inOrder returns some hosts, which are as the world has them, in the order that a class wants.
func (w *world) inOrder(hosts []int, by *ordering) []int {
	if w.bestFirst(by) == nil {
		return hosts
	}
	at := w.orderings.places(by)
	return slices.SortedFunc(slices.Values(hosts), func(a, b int) int { return at[a] - at[b] })
}

// rankIn returns where the first of some hosts stands in the order that a class wants.
func (w *world) rankIn(by *ordering, hosts []int) int {
	first := w.inOrder(hosts, by)[0]
	if w.bestFirst(by) == nil {
		return first
	}
	return w.orderings.places(by)[first]
}

// through iterates over the hosts that have enough of everything, in an order. What is enough may rise meanwhile.
func (w *world) through(by *ordering, needs []need) iter.Seq[int] {
	return func(yield func(int) bool) {
		best := w.bestFirst(by)
		if best == nil {
			for h := w.next(0, needs); h >= 0 && yield(h); h = w.next(h+1, needs) {
			}
			return
		}
		for _, h := range best {
			if w.set.on(h) && w.suffices(h, needs) && !yield(h) {
				return
			}
		}
	}
}
