package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// After an event most jobs wait as they did before, and for the same reason. Two things keep their part of a cycle short.
//
// A class is stuck if it fitted nowhere in the last cycle and nothing that was freed since is enough for even one chunk of it: then no
// vnodes are searched. Only classes with one kind of chunk can be stuck: of several kinds one may find room because another one has
// been given less.
//
// A line is quiet if its class is stuck and its jobs know already for what kind of reason they wait: nothing of it comes into the
// plan. Once the log lines and the comments with exact amounts of a cycle are used up, quiet lines are passed over, all of them in
// one go. Their reasons are those of the moment, so those behind a job that starts come back.

// freed are hosts on which there may be more than there was.
type freed struct {
	hosts []int
	lost  bool // there may be more on any of them
}

// mostFreed bounds the hosts that are told apart: each stuck class is compared with them.
const mostFreed = 64

func (f *freed) note(h int) {
	switch n := len(f.hosts); {
	case f.lost, n > 0 && f.hosts[n-1] == h:
	case n == mostFreed:
		f.lost = true
	default:
		f.hosts = append(f.hosts, h)
	}
}

// turn begins a cycle: what the last one has changed of its copy of the world is in the world as it was, and may stay so.
func (p *Planner) turn() {
	p.given, p.taken = p.taken, p.given
	p.taken.hosts, p.taken.lost = p.taken.hosts[:0], false
}

// stuck reports whether a class that fitted nowhere in the last cycle still does not. Only hosts that have changed since, or in the last
// cycle, are looked at: of every other one the class did not find less in the last cycle than there is at the beginning of this one,
// and a cycle gives back no more than it has taken. What is kept for jobs that wait counts as free: somebody may backfill it. A class
// that the cycle has found to fit but for what others are to have is not stuck, though another job has taken that place since.
func (c *cycle) stuck(cl *class) bool {
	p, w := c.planner, c.free
	if c.reserving != nil && c.reserving.real != nil {
		w = c.reserving.real
	}
	return cl.stuck != 0 && cl.stuck+1 == p.cycle && cl.late != p.cycle && !p.given.lost && !w.enough(cl, p.given.hosts)
}

// fails notes that a class fits nowhere.
func (c *cycle) fails(cl *class) {
	if len(cl.chunks) == 1 && len(cl.groups.defs) == 0 && cl.bounds == nil && cl.where == nil && len(cl.choice) == 0 {
		cl.stuck = c.planner.cycle
	}
}

// least returns what a host has at least that takes part in a start of a class of one kind: one chunk, or all that have to be together.
func (cl *class) least() []need {
	if cl.place.Arrangement == spec.Pack {
		return cl.sums
	}
	return cl.chunks[0].needs
}

// enough reports whether some of the hosts may have enough for a class of one kind.
func (w *world) enough(cl *class, hosts []int) bool {
	for _, h := range hosts {
		if w.hasFor(h, cl) {
			return true
		}
	}
	return false
}

// hasFor reports whether a host may have enough for a class of one kind.
func (w *world) hasFor(h int, cl *class) bool {
	if !cl.plain {
		return w.hasOn(h, cl.least())
	}
	for k, amount := range cl.floor {
		if c := w.columns.of(usualResources[k]); c != nil && c.tree[c.size+h] < amount {
			return false
		}
	}
	return true
}

func (w *world) hasOn(h int, needs []need) bool {
	for _, n := range needs {
		if c := w.column(n.def); c.tree[c.size+h] < n.amount {
			return false
		}
	}
	return true
}

// mostKept bounds the hosts that the next cycle looks at again because they are promised.
const mostKept = mostFreed / 2

// stuckFor reports whether a class that fitted nowhere in the last cycle still does not for as long as the shortest job of its line
// runs, because others are to have what was freed. The next cycle looks at those hosts again: they are not what the class was found
// not to fit on.
func (c *cycle) stuckFor(l *line) bool {
	p, f, cl := c.planner, c.future, l.class
	if cl.stuck == 0 || cl.stuck+1 != p.cycle || p.given.lost || f.pooled || !f.promises() || c.reserving != nil {
		return false
	}
	end := f.endOfAll(p.shortest(c.view, *l))
	for _, h := range p.given.hosts {
		if c.free.hasFor(h, cl) && (f.leaves(c.free, h, cl.least(), end) || !p.taken.keep(h)) {
			return false
		}
	}
	return true
}

// keep notes a host that nobody has changed, unless there are too many of those; true: it is noted.
func (f *freed) keep(h int) bool {
	if f.lost || slices.Contains(f.hosts, h) {
		return true
	}
	if len(f.hosts) >= mostKept {
		return false
	}
	f.hosts = append(f.hosts, h)
	return true
}

// leaves reports whether a host may have enough until an end beside what others are to have of it before.
func (f *future) leaves(w *world, h int, needs []need, end span) bool {
	win := &window{future: f, from: f.now, span: end}
	for _, n := range needs {
		c, sum := w.column(n.def), int64(0)
		for _, i := range w.hosts[h].nodes {
			if !w.nodes[i].usable {
				continue
			}
			left := c.left(i)
			if s := f.at(w, i, false); s.busy {
				left -= min(left, win.missing(&s.Vnode, n.def.Name))
			}
			sum = plus(sum, left)
		}
		if sum < n.amount {
			return false
		}
	}
	return true
}

// passing holds what a cycle has passed over.
type passing struct {
	sorted  []int32       // lines that were quiet when it did, in their order
	heap    []int32       // others
	last    line          // that was looked at last
	looked  int           // lines that were looked at since
	changes int           // of what is free, before it did
	mute    bool          // the comments were used up when it did
	began   bool          // it has passed over some
	plain   pbs.QueueName // a queue that was found to be plain
	known   bool
}

// next returns the lane whose turn it is, nil when nothing is left that something may come of.
func (c *cycle) next(waits *lanes) *lane {
	if len(waits.all) == 1 {
		c.passOver(&waits.all[0].lines)
	}
	lane := waits.next()
	if lane != nil {
		c.passing.last = *lane.lines.first()
		c.passing.looked++
	}
	return lane
}

// passOver takes the quiet lines out of the others, once more when the comments are used up and more of them are quiet, and brings
// those back that may be so no more. To look through all lines costs about as much as to look at every sixteenth of them, and is not
// done more often than that.
func (c *cycle) passOver(l *lines) {
	p := &c.passing
	if p.began && c.free.changes != p.changes {
		p.began = false
		first := slices.IndexFunc(p.sorted, func(i int32) bool { return p.last.before(&l.all[i]) })
		if first >= 0 {
			l.sorted = merged(nil, l.all, l.sorted, p.sorted[first:])
		}
		for _, i := range p.heap {
			if p.last.before(&l.all[i]) {
				l.heap = append(l.heap, i)
			}
		}
		p.sorted, p.heap = nil, nil
		l.init()
	}
	more := p.began && c.mute() && !p.mute
	if !more && (p.began || p.looked < l.len()/16) || !c.mayPassOver() {
		return
	}
	p.began, p.looked, p.changes, p.mute, p.known = true, 0, c.free.changes, c.mute(), false
	var sorted []int32
	quiet := func(to *[]int32) func(int32) bool {
		return func(i int32) bool {
			is := c.quiet(&l.all[i])
			if is {
				*to = append(*to, i)
			}
			return is
		}
	}
	l.sorted = slices.DeleteFunc(l.sorted, quiet(&sorted))
	l.heap = slices.DeleteFunc(l.heap, quiet(&p.heap))
	p.sorted = merged(nil, l.all, p.sorted, sorted)
	l.init()
}

// mayPassOver reports whether there are no lines in the log for jobs that are looked at, nor comments with exact amounts, and
// nothing in the cycle that must be asked for each job.
func (c *cycle) mayPassOver() bool {
	p := c.planner
	return c.waiting >= c.exact && len(c.plan.Lines) >= c.lines && len(c.plan.Starts) < c.starts &&
		!p.given.lost && len(c.stopped) == 0 && c.onlyRoom()
}

// onlyRoom reports whether nothing about a single job but its request and its queue decides whether it may start.
func (c *cycle) onlyRoom() bool {
	return len(c.planner.dynamic) == 0 && c.order.shares == nil && !c.order.bounded && c.hours.begins == 0 && c.hours.turns == 0
}

// mute reports whether no more jobs are told why they wait.
func (c *cycle) mute() bool {
	return len(c.plan.Comments) >= c.comments || c.plan.Withheld && !c.order.eligible
}

// tell has a job told something. A sparing planner keeps it back before it counts, unless it changes what the job's time counts as.
func (c *cycle) tell(out Comment) {
	if c.planner.sparing && !accruesAnew(c.view, out) {
		c.plan.Withheld = true
		return
	}
	c.plan.Comments = append(c.plan.Comments, out)
}

// quiet reports whether nothing of a line would come into the plan.
func (c *cycle) quiet(l *line) bool {
	if l.alone || l.class.lines > 1 || !c.plain(l.of.Queue) || !c.stuck(l.class) && (!c.mute() || !c.stuckFor(l)) {
		return false
	}
	_, depth := c.depth(l.of.Queue)
	promises := c.plansForAny() && (depth == 0 || c.mayPromise(l.of.Queue, l.class))
	if promises || !c.mute() {
		why, _ := c.cause(l.class)
		if promises && !why.Never || !c.mute() && l.of.Wait != why.Kind() {
			return false // it may be a top job, or is told something else
		}
	}
	l.class.stuck = c.planner.cycle // as it was in the last one
	return true
}

// plain reports whether the jobs of a queue may start, and whether nothing but what is free decides which of them do.
func (c *cycle) plain(queue pbs.QueueName) bool {
	p := &c.passing
	if p.known && p.plain == queue {
		return true
	}
	q, ok := c.view.Queue(queue)
	if !ok || !q.Started || q.Routes() || c.reserving.reserves(queue) || c.inside(queue) != nil || c.hours.shut(queue) != 0 || c.stands(queue) ||
		c.limiter.applies(c.view, queue) || c.view.SoftlyLimited(queue) || c.anyPreemptable(queue) {
		return false
	}
	p.plain, p.known = queue, true
	return true
}

// anyPreemptable reports whether there may be a job to preempt for some job of a queue.
func (c *cycle) anyPreemptable(queue pbs.QueueName) bool {
	l := c.order.levels
	return l != nil && l.least() < l.most(queue) && c.lowest() < l.most(queue)
}

// allTooLong reports whether all jobs of a line wait since reservations are to have, or top jobs, what they would still have then, and
// know it already.
func (c *cycle) allTooLong(l line) bool {
	if l.alone || l.class.lines > 1 || len(c.plan.Lines) < c.lines || !c.onlyRoom() {
		return false
	}
	known := c.future.tooLong[l.class]
	if known.until == (span{}) || !c.plain(l.of.Queue) || !known.stops(c.future.endOfAll(c.planner.shortest(c.view, l))) {
		return false
	}
	return c.mute() || c.waiting >= c.exact && l.of.Wait == known.why.Kind()
}

// lengths are for how long a job is expected to run, and for how long it may.
type lengths struct{ expected, most pbs.Time }

// least notes one more job.
func (l lengths) least(j *state.Job, rows *rows) lengths {
	most := rows.shortest(j)
	return lengths{min(l.expected, most, rows.expected(j)), min(l.most, most)}
}

// endOfAll returns until when jobs run that start now.
func (f *future) endOfAll(l lengths) span { return spanFrom(f.now, l.expected, l.most) }

// shortest returns for how long each job of a line runs at least. The line is the only one of its class.
func (p *Planner) shortest(v *state.View, l line) lengths {
	cl := l.class
	if !cl.timed {
		cl.timed, cl.shortest = true, lengths{unending, unending}
		for j := range v.JobsOf(l.of) {
			cl.shortest = cl.shortest.least(j, p.rows)
		}
	}
	return cl.shortest
}

// followTimes keeps what is known of the lengths of jobs: those that have come or changed since may be shorter.
func (p *Planner) followTimes(v *state.View) {
	if v.Index() < p.index || v.Index() == p.index && v.Digest() != p.digest {
		for _, cl := range p.classes {
			cl.timed = false
		}
	} else if v.Index() != p.index {
		for j := range v.JobsChanged(p.index+1, 0, 0) {
			if !j.Startable() {
				continue
			}
			place, _ := j.Resources.Get("place")
			k := p.key(j.SchedSelect, place, j.Queue)
			k.more = j.More()
			if cl := p.classes[k]; cl != nil && cl.timed {
				cl.shortest = cl.shortest.least(j, p.rows)
			}
		}
	}
	p.index, p.digest = v.Index(), v.Digest()
}
