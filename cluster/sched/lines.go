package sched

import "rampart/fsm/state"

// A line are the jobs of one class that were not considered yet.
type line struct {
	of    *state.Class
	job   *state.Job     // the first of them
	turn  state.Standing // of that: its record need not be read
	class *class
	rank  rank
	alone bool     // of a job that comes before the others of its class, which have a line of their own
	rest  []ranked // behind the first, where they have scores; else the state has their order
}

// begin makes a job the first one of the line.
func (l *line) begin(j *state.Job) { l.job, l.turn = j, j.Standing() }

// before tells which of two lines comes first.
func (l *line) before(o *line) bool {
	if c := l.rank.compare(&o.rank); c != 0 {
		return c < 0
	}
	return l.turn.Before(o.turn)
}

// lines are some of all lines of a cycle, as a heap of their places: the job to be considered next comes first.
type lines struct {
	all  []line
	heap []int32
}

// linesOf returns all lines.
func linesOf(all []line) lines {
	l := lines{all, make([]int32, len(all))}
	for i := range l.heap {
		l.heap[i] = int32(i)
	}
	l.init()
	return l
}

// first returns the line whose job is to be considered next.
func (l *lines) first() *line { return &l.all[l.heap[0]] }

func (l *lines) init() {
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.down(i)
	}
}

// down moves the line at a place behind those that come before it.
func (l *lines) down(i int) {
	h := l.heap
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if l.all[h[child]].before(&l.all[h[first]]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}

// leave drops the first line.
func (l *lines) leave() {
	last := len(l.heap) - 1
	l.heap[0] = l.heap[last]
	l.heap = l.heap[:last]
	l.down(0)
}

// advance moves the first line on to its next job, and drops it behind the last. Who is over
// a soft limit stays so in a cycle.
func (l *lines) advance(v *state.View) {
	first := l.first()
	over, level := first.rank.over, first.rank.level
	switch {
	case first.alone:
		l.leave()
		return
	case len(first.rest) > 0:
		first.begin(first.rest[0].job)
		first.rank, first.rest = first.rest[0].rank, first.rest[1:]
	default:
		next, ok := v.NextOf(first.of, first.job)
		if !ok || first.rest != nil {
			l.leave()
			return
		}
		first.begin(next)
	}
	if first.rank.over = over; over != 0 {
		first.rank.level = level
	}
	l.down(0)
}

// recede puts the first line, which is over some soft limits, behind those that are within theirs.
func (l *lines) recede(o *order, over uint8) {
	first := l.first()
	if first.rank.over = over; o.levels.asks(isOverQueue | isOverServer) {
		first.rank.level = o.levels.of(first.of.Queue, o.is(first.job)|over)
	}
	l.down(0)
}
