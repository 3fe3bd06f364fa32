package sched

import (
	"container/heap"

	"rampart/fsm/state"
)

// A line are the jobs of one class that were not considered yet.
type line struct {
	of    *state.Class
	job   *state.Job // the first of them
	class *class
	rank  rank
	alone bool     // of a job that comes before the others of its class, which have a line of their own
	rest  []ranked // behind the first, where they have scores; else the state has their order
}

// lines is a heap: the job to be considered next comes first.
type lines []line

func (l lines) Len() int { return len(l) }
func (l lines) Less(i, j int) bool {
	if c := l[i].rank.compare(l[j].rank); c != 0 {
		return c < 0
	}
	return state.Before(l[i].job, l[j].job)
}
func (l lines) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *lines) Push(x any) { *l = append(*l, x.(line)) }

// Pop implements heap.Interface.
func (l *lines) Pop() any {
	last := len(*l) - 1
	gone := (*l)[last]
	*l = (*l)[:last]
	return gone
}

// leave drops the first line.
func (l *lines) leave() { heap.Pop(l) }

// advance moves the first line on to its next job, and drops it behind the last. Who is over
// a soft limit stays so in a cycle.
func (l *lines) advance(v *state.View) {
	first := &(*l)[0]
	over, level := first.rank.over, first.rank.level
	switch {
	case first.alone:
		l.leave()
		return
	case len(first.rest) > 0:
		first.job, first.rank, first.rest = first.rest[0].job, first.rest[0].rank, first.rest[1:]
	default:
		next, ok := v.NextOf(first.of, first.job)
		if !ok || first.rest != nil {
			l.leave()
			return
		}
		first.job = next
	}
	if first.rank.over = over; over != 0 {
		first.rank.level = level
	}
	heap.Fix(l, 0)
}

// recede puts the first line, which is over some soft limits, behind those that are within theirs.
func (l *lines) recede(o *order, over uint8) {
	first := &(*l)[0]
	if first.rank.over = over; o.levels.heeds(isOverQueue | isOverServer) {
		first.rank.level = o.levels.of(first.of.Queue, o.is(first.job)|over)
	}
	heap.Fix(l, 0)
}
