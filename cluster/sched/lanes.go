package sched

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
)

// lanes are the lines that are considered in turn: with round_robin those of each queue, with
// fair share those of each entity, with both those of each entity in each queue, else there is one lane.
type lanes struct {
	all   []lane
	turns bool
}

type lane struct {
	queue    pbs.QueueName
	priority int64
	taken    *int // jobs of the queue that were considered
	entity   *sharer
	lines    lines
}

// newLanes returns the lanes of lines, of which the order of the first ones is known.
func newLanes(waits []line, sorted []int32, o *order) lanes {
	if !o.turns && !o.shared() {
		one := lines{all: waits, sorted: slices.Clone(sorted)}
		for place := len(sorted); place < len(waits); place++ {
			one.heap = append(one.heap, int32(place))
		}
		one.init()
		return lanes{all: []lane{{lines: one, taken: new(int)}}}
	}
	type name struct {
		queue  pbs.QueueName
		entity *sharer
	}
	var all []lane
	at, taken := map[name]int{}, map[pbs.QueueName]*int{}
	for place := range waits {
		l := &waits[place]
		var n name
		if o.turns {
			n.queue = l.of.Queue
		}
		if o.shared() {
			n.entity = o.shares.of(l.job)
		}
		i, ok := at[n]
		if !ok {
			i = len(all)
			at[n] = i
			if taken[n.queue] == nil {
				taken[n.queue] = new(int)
			}
			all = append(all, lane{queue: n.queue, priority: o.queues[n.queue], taken: taken[n.queue], entity: n.entity, lines: lines{all: waits}})
		}
		all[i].lines.heap = append(all[i].lines.heap, int32(place))
	}
	for i := range all {
		all[i].lines.init()
	}
	return lanes{all, o.turns}
}

// shared reports whether jobs come in the order of fair share, those of a queue with round_robin: a
// formula takes its place.
func (o *order) shared() bool { return o.shares != nil && o.formula == nil }

// next returns the lane whose turn it is, nil when nothing is left.
func (l *lanes) next() *lane {
	var best *lane
	for i := range l.all {
		a := &l.all[i]
		if a.lines.len() > 0 && (best == nil || l.before(a, best)) {
			best = a
		}
	}
	return best
}

// before tells which lane comes first: with round_robin that of the queue of highest Priority that had the
// fewest turns, the name decides between equals; then with fair share that of the entity that has
// used least of its part. What comes before all that goes by the first job.
func (l *lanes) before(a, b *lane) bool {
	x, y := a.lines.first(), b.lines.first()
	if x.rank.cleared != y.rank.cleared {
		return x.rank.cleared
	}
	if c := cmp.Compare(y.rank.level, x.rank.level); c != 0 {
		return c < 0
	}
	if l.turns {
		if c := cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(*a.taken, *b.taken), cmp.Compare(a.queue, b.queue)); c != 0 {
			return c < 0
		}
	}
	if c := x.rank.first(&y.rank); c != 0 {
		return c < 0
	}
	if c := a.entity.compare(b.entity); c != 0 {
		return c < 0
	}
	return x.before(y)
}
