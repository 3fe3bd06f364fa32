package sched

import (
	"maps"
	"reflect"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A lineup holds the lines with which a cycle begins, and their order. It is kept from one cycle to the next: most classes still
// have the same first job.
type lineup struct {
	lines  []line
	sorted []int32 // their places in the order of their first jobs

	age      uint64                  // of the requests that the planner knew
	world    *world                  // whose columns the classes have asked for
	reserved uint64                  // the age of the queues of reservations
	queues   map[pbs.QueueName]int64 // of the order
	levels   *levels
	counted  bool // class.lines is what these lines make it

	spare []line // room for the next

	to, stay, room []int32 // of sort, and room for the next order
}

// lookahead is how many lines that are gone one after the other are passed over at once.
const lookahead = 16

// valid reports whether what was found out of the lines' classes still holds.
func (l *lineup) valid(p *Planner) bool {
	return l.age == p.age && l.world == p.all && l.reserved == p.reserved.age
}

// lineUp returns a line for each class of which jobs wait. Their order is not known where jobs have scores.
func (p *Planner) lineUp(v *state.View) []line {
	k := &p.lineup
	was, same := k.lines, k.counted
	if !k.valid(p) || p.order.scores() {
		was, same = nil, false
	}
	next, come := k.spare[:0], []int32(nil)
	to := slices.Grow(k.to[:0], len(was))[:len(was)] // where they are now; -1: they are not what they were
	k.to = to
	o := &p.order
	ranked := o.levels.asks(isStarving|isOverShare) || !maps.Equal(k.queues, o.queues) || !reflect.DeepEqual(k.levels, o.levels)
	at := 0
	for of, j := range v.Classes() {
		found := -1
		for i := at; i < min(len(was), at+lookahead); i++ {
			if was[i].of == of {
				found = i
				break
			}
		}
		place := int32(len(next))
		if found < 0 {
			next, come, same = append(next, p.line(v, of, j)), append(come, place), false
			continue
		}
		for ; at < found; at++ {
			to[at], same = -1, false
		}
		at++
		l, stays := &was[found], true
		next = append(next, *l)
		now := &next[place]
		if now.inside { // what its reservation has may have changed
			now.class = p.known(v, of)
			same = same && now.class == l.class
		}
		if l.job != j {
			now.begin(j)
			stays = false
		}
		if ranked {
			now.rank = o.rank(j)
			stays = stays && now.rank.compare(&l.rank) == 0
		}
		if to[found] = place; !stays {
			to[found], come = -1, append(come, place)
		}
	}
	for ; at < len(was); at++ {
		to[at], same = -1, false
	}
	k.spare, k.lines = k.lines, next
	k.age, k.world, k.reserved, k.queues, k.levels = p.age, p.all, p.reserved.age, o.queues, o.levels
	if p.order.scores() {
		k.sorted, k.world = nil, nil
	} else {
		k.sort(next, to, come)
	}
	waits := p.hasten(v, append(p.waits[:0], next...))
	if alone := len(waits) > len(next); !same || alone {
		k.counted = p.count(waits) && !alone
	}
	return waits
}

// sort brings the order up to date: to says where the lines of the last cycle are that stand as they stood, come are the places of
// all others.
func (k *lineup) sort(lines []line, to, come []int32) {
	slices.SortFunc(come, func(a, b int32) int { return inOrder(lines, a, b) })
	stay := k.stay[:0]
	if len(to) > 0 {
		for _, i := range k.sorted {
			if to[i] >= 0 {
				stay = append(stay, to[i])
			}
		}
	}
	k.stay = stay
	k.sorted, k.room = merged(k.room[:0], lines, stay, come), k.sorted
}

// merged adds the places of two groups of lines, of which each is in its order, to others, in the order of all.
func merged(all []int32, lines []line, a, b []int32) []int32 {
	all = slices.Grow(all, len(a)+len(b))
	if len(a) < len(b) {
		a, b = b, a
	}
	for len(b) > 0 {
		n, _ := slices.BinarySearchFunc(a, b[0], func(i, first int32) int { return inOrder(lines, i, first) })
		all, a = append(all, a[:n]...), a[n:]
		all, b = append(all, b[0]), b[1:]
	}
	return append(all, a...)
}

// inOrder compares the lines at two places.
func inOrder(lines []line, a, b int32) int {
	switch {
	case a == b:
		return 0
	case lines[a].before(&lines[b]):
		return -1
	}
	return 1
}

// count notes how many lines each class has, and makes sure that the columns are there that it asks for. False: the next cycle
// has to do so in any case.
func (p *Planner) count(lines []line) bool {
	once := true
	for i := range lines {
		lines[i].class.lines = 0
	}
	for i := range lines {
		cl := p.asked(lines[i].class)
		cl.lines++
		once = once && !cl.inSets()
	}
	return once
}
