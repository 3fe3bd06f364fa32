package sched

import "rampart/fsm/state"

// A line holds the jobs of one class that were not considered yet.
type line struct {
	of     *state.Class
	class  *class
	job    *state.Job     // the first of them
	inside bool           // of the queue of a reservation
	alone  bool           // of a job that comes before the others of its class, which have a line of their own
	turn   state.Standing // of the first job: its record need not be read
	rank   rank
	rest   []ranked // behind the first, where they have scores; else the state has their order
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

// lines are some of all lines of a cycle: the job to be considered next comes first. Most lines stand in the order in which they
// stood when the cycle began, and leave it without another look; those that have moved on to another job are a heap.
type lines struct {
	all    []line
	sorted []int32 // places of lines
	heap   []int32
	moved  bool // the first one is the heap's
}

// init brings the lines into order that were put into heap.
func (l *lines) init() {
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.down(i)
	}
	l.choose()
}

// choose finds the first line.
func (l *lines) choose() {
	l.moved = len(l.sorted) == 0 || len(l.heap) > 0 && l.all[l.heap[0]].before(&l.all[l.sorted[0]])
}

// len returns how many lines are left.
func (l *lines) len() int { return len(l.sorted) + len(l.heap) }

// first returns the line whose job is to be considered next.
func (l *lines) first() *line {
	if l.moved {
		return &l.all[l.heap[0]]
	}
	return &l.all[l.sorted[0]]
}

// down moves the line at a place of the heap behind those that come before it.
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

// up moves the last line of the heap before those that come behind it.
func (l *lines) up() {
	h := l.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !l.all[h[i]].before(&l.all[h[parent]]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// leave drops the first line.
func (l *lines) leave() {
	if l.moved {
		last := len(l.heap) - 1
		l.heap[0] = l.heap[last]
		l.heap = l.heap[:last]
		l.down(0)
	} else {
		l.sorted = l.sorted[1:]
	}
	l.choose()
}

// stand puts the first line where it stands now that it has changed.
func (l *lines) stand() {
	if l.moved {
		l.down(0)
	} else {
		l.heap, l.sorted = append(l.heap, l.sorted[0]), l.sorted[1:]
		l.up()
	}
	l.choose()
}

// advance moves the first line on to its next job, and drops it behind the last. A user over a soft limit stays over it for the cycle.
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
	l.stand()
}

// recede puts the first line, which is over some soft limits, behind those that are within theirs.
func (l *lines) recede(o *order, over uint8) {
	first := l.first()
	if first.rank.over = over; o.levels.asks(isOverQueue | isOverServer) {
		first.rank.level = o.levels.of(first.of.Queue, o.is(first.job)|over)
	}
	l.stand()
}
