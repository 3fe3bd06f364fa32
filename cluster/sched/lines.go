package sched

import "rampart/fsm/state"

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

// before tells which of two lines comes first.
func (l *line) before(o *line) bool {
	if c := l.rank.compare(o.rank); c != 0 {
		return c < 0
	}
	return state.Before(l.job, o.job)
}

func (l lines) init() {
	for i := len(l)/2 - 1; i >= 0; i-- {
		l.down(i)
	}
}

// down moves the line at a place behind those that come before it.
func (l lines) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l); child++ {
			if l[child].before(&l[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		l[i], l[first] = l[first], l[i]
		i = first
	}
}

// leave drops the first line.
func (l *lines) leave() {
	last := len(*l) - 1
	(*l)[0] = (*l)[last]
	*l = (*l)[:last]
	l.down(0)
}

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
	l.down(0)
}

// recede puts the first line, which is over some soft limits, behind those that are within theirs.
func (l *lines) recede(o *order, over uint8) {
	first := &(*l)[0]
	if first.rank.over = over; o.levels.asks(isOverQueue | isOverServer) {
		first.rank.level = o.levels.of(first.of.Queue, o.is(first.job)|over)
	}
	l.down(0)
}
