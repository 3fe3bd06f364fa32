package sched

import (
	"slices"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Jobs of queues with slot_reserve or resource_reserve keep slots, and memory, while they wait (specification: reservation sections 5
// and 6). What they keep is rebuilt in each cycle, in the order of the jobs: it is taken out of what is free for those that come later,
// unless they may backfill it. Where no queue is like that, a cycle has no reserving and it costs nothing.
//
// The number of cycles counts for nothing: for how long a job may keep something is told in dispatch turns, which come at a fixed
// distance. In between, cycles follow events.

const (
	// oneSecond is how exactly ends and starts are compared: a job that ends when another one starts is not in its way for having been
	// started some milliseconds late.
	oneSecond = pbs.Time(time.Second)
)

// wholeSecond returns the second that a time is in.
func wholeSecond(at pbs.Time) pbs.Time {
	if at == foreverMore {
		return at
	}
	return at - at%oneSecond
}

// reserving holds what a cycle knows of jobs that keep something while they wait.
type reserving struct {
	queues map[pbs.QueueName]mode
	turn   pbs.Time // between dispatch turns
	depth  int      // how many jobs are planned by time: LSB_TIME_RESERVE_NUMJOBS

	perSlot bool // what is reserved of memory is asked for each slot

	tick bool     // the cycle is a dispatch turn
	last pbs.Time // when the last one was, this one included
	at   pbs.Time // of the cycle

	waiters map[pbs.JobID]*waiter
	inOrder []*waiter

	ncpus, mem resource.Def
	keeps      []*keep // in the order of their jobs
	plans      []*planned
	real       *world // free, and what is kept with it; nil: nothing is kept yet
	shades     map[pbs.Time]*shade

	failed   map[*class]bool       // classes that did not fit beside what is kept
	roomy    map[*class]bool       // whether they would, were nothing kept
	short    map[*class]pbs.Time   // how long jobs of them would run that did not fit into what may be backfilled
	whys     map[*class]state.Wait // why they wait
	spent    map[lot]bool          // classes of which no job found anything to keep
	unready  map[lot]pbs.Time      // how long jobs of them would run for which no time was found
	passes   map[lot]bool          // of the gate
	gates    map[bool]*world       // by whether memory is left out
	slim     map[slimKey]*class
	backfill map[pbs.QueueName]bool

	ends *endings // of runs; nil: they were not needed yet
	age  int      // how often the real world has changed
}

// A lot is jobs of a class and a queue: what they may keep is the same.
type lot struct {
	of    *class
	queue pbs.QueueName
}

// mode says what jobs of a queue may keep.
type mode struct {
	turns  int64 // for so many dispatch turns
	memory bool  // with their slots; else slots alone, and jobs of several slots alone
	wide   bool  // jobs of several slots, too
}

// waiter is a job that keeps something, or has.
type waiter struct {
	job   *state.Job
	was   *state.Pending
	next  state.Pending
	start pbs.Time // when it is expected to start; 0: that is not known
	where string
	asked bool // what it is to keep was looked at in this cycle

	starts bool // in this cycle
}

// reserving returns nil where no queue has its jobs keep anything, and none does.
func (p *Planner) reserving(v *state.View, now pbs.Time) *reserving {
	queues, site := map[pbs.QueueName]mode{}, v.LSF()
	for q := range v.Queues() {
		turns, memory := q.Reserves()
		module := lsf.ModuleParallel
		if memory {
			module = lsf.ModuleReserve
		}
		if turns > 0 && site.Has(module) {
			queues[q.Name] = mode{turns, memory, !memory || site.ReservesParallel()}
		}
	}
	some := false
	for range v.Pendings() {
		some = true
		break
	}
	if len(queues) == 0 && !some {
		return nil
	}
	r := &reserving{
		queues: queues, depth: int(site.TimeReserveJobs), perSlot: site.PerSlot, turn: state.Span(site.Turn()), at: now + p.ahead, waiters: map[pbs.JobID]*waiter{},
		failed: map[*class]bool{}, roomy: map[*class]bool{}, short: map[*class]pbs.Time{}, whys: map[*class]state.Wait{}, spent: map[lot]bool{}, unready: map[lot]pbs.Time{},
		passes: map[lot]bool{}, gates: map[bool]*world{}, shades: map[pbs.Time]*shade{}, slim: map[slimKey]*class{}, backfill: map[pbs.QueueName]bool{},
	}
	r.ncpus, _ = v.Resource("ncpus")
	r.mem, _ = v.Resource("mem")
	r.begin(v, some, p.cycle == 1)
	return r
}

// begin finds out whether the cycle is a dispatch turn, and has those that have kept something for long enough pause. The first cycle of
// a leader follows an event, the change of leaders (specification: reservation section 10.6).
func (r *reserving) begin(v *state.View, some, first bool) {
	r.last = v.Cluster().Turned
	if !some || r.last == 0 || r.last > r.at {
		r.last = r.at - r.at%r.turn
	}
	if due := r.last + r.turn; some && !first && r.at >= due {
		r.tick, r.last = true, due
		if r.at >= due+r.turn {
			r.last = wholeSecond(r.at) // turns were missed, and do not count
		}
	}
	for j := range v.Pendings() {
		w := &waiter{job: j, was: j.Pending}
		r.waiters[j.ID], r.inOrder = w, append(r.inOrder, w)
		m, reserves := r.queues[j.Queue]
		if !reserves {
			continue
		}
		w.next = state.Pending{Age: j.Pending.Age, Paused: j.Pending.Paused}
		switch {
		case !r.tick:
		case w.next.Paused:
			w.next.Age, w.next.Paused = 0, false
		case int64(w.next.Age) >= m.turns:
			w.next.Paused = true
		}
	}
}

// reserves reports whether jobs of a queue keep something while they wait.
func (r *reserving) reserves(queue pbs.QueueName) bool {
	if r == nil {
		return false
	}
	_, reserves := r.queues[queue]
	return reserves
}

// mayKeep reports whether a job that cannot start may have something kept for it; nil: whether any of its line may.
func (c *cycle) mayKeep(j *state.Job, queue pbs.QueueName, cl *class) bool {
	r := c.reserving
	return r.reserves(queue) && (!r.spent[lot{cl, queue}] || len(r.plans) < r.depth && (j == nil || r.mayPlan(c, j, cl)))
}

// mayPlan reports whether a time may be found for a job: none was found for shorter ones of its class if that is not so.
func (r *reserving) mayPlan(c *cycle, j *state.Job, cl *class) bool {
	least, known := r.unready[lot{cl, j.Queue}]
	if !known {
		return true
	}
	long, known := c.runtime(j)
	return known && long < least
}

// waiter returns what is known of a job, of which that may be nothing yet.
func (r *reserving) waiter(j *state.Job) *waiter {
	w := r.waiters[j.ID]
	if w == nil {
		w = &waiter{job: j}
		r.waiters[j.ID], r.inOrder = w, append(r.inOrder, w)
	}
	return w
}

// starts notes that a job starts in this cycle; an array goes on with its next subjob. What any other job has kept goes with its start:
// until then a hook may refuse it, and it waits on as it did.
func (r *reserving) starts(j *state.Job) {
	if w := r.waiters[j.ID]; w != nil {
		w.next, w.starts = state.Pending{}, j.Array == nil
	}
}

// keepFor has a job that cannot start keep what it can, if its queue wants that. It reports whether it does.
func (c *cycle) keepFor(j *state.Job, cl *class) bool {
	r := c.reserving
	if !r.reserves(j.Queue) {
		return false
	}
	w := r.waiter(j)
	if w.asked {
		return true
	}
	w.asked = true
	c.foreseen[j.ID] = false // what is said of its start is not for demote to take back
	m := r.queues[j.Queue]
	switch {
	case w.next.Paused, cl.bad != "", !m.memory && cl.slots() < 2, !m.wide && cl.slots() > 1, !c.passesGate(j, cl, m):
		return true
	}
	if len(r.plans) < r.depth && r.mayPlan(c, j, cl) && c.planFor(w, cl, m) {
		return true
	}
	c.greedy(w, cl, m)
	return true
}

// keeps takes what a job is to keep out of what is free for those behind it.
func (c *cycle) keeps(w *waiter, cl *class, parts []state.Kept, est pbs.Time) {
	r := c.reserving
	w.next.Held, w.start = parts, est
	if len(parts) == 0 {
		return
	}
	r.realWorld(c)
	k := &keep{of: w, est: est, alone: c.free.isExclusive(r.placed(parts), cl), placed: r.placed(parts), bounds: cl.bounds}
	r.keeps = append(r.keeps, k)
	c.withhold(k)
	c.foresees(k)
	if k.alone {
		for _, part := range parts {
			n := &c.free.nodes[c.free.byVnode[part.Vnode]]
			c.free.settleIn(n, cl)
			c.free.reset(n.host)
		}
	}
}

// settle says what has changed of jobs that keep something, one command for all of them. What a cycle has not come to look at
// stays as it was.
func (c *cycle) settle() {
	r := c.reserving
	if r == nil {
		return
	}
	partly := c.plan.More || c.plan.Late
	out := &command.KeepPending{}
	some := false
	for _, w := range r.inOrder {
		if w.starts || partly && !w.asked {
			some = some || w.was != nil
			continue
		}
		change, keeps := r.change(w)
		some = some || keeps
		if change != nil {
			out.Jobs = append(out.Jobs, *change)
		}
	}
	if some && c.view.Cluster().Turned != r.last {
		out.Turned = r.last
	}
	if len(out.Jobs) > 0 || out.Turned != 0 {
		c.plan.Pending = out
	}
	if some {
		c.plan.Turn = r.last + r.turn
	}
}

// change returns what has changed of a job, and whether anything is to be known of it.
func (r *reserving) change(w *waiter) (change *command.PendingJob, keeps bool) {
	next := &w.next
	if len(next.Held) > 0 {
		if r.tick || next.Age == 0 {
			next.Age++
		}
		next.Since = r.at
		if r.tick {
			next.Since = r.last
		}
		if w.was != nil && len(w.was.Held) > 0 {
			next.Since = w.was.Since
		}
		next.Since = wholeSecond(next.Since)
	}
	if next.Age == 0 && !next.Paused && len(next.Held) == 0 && w.start == 0 {
		if w.was == nil {
			return nil, false
		}
		return &command.PendingJob{Job: w.job.ID, Over: true}, false
	}
	out := &command.PendingJob{Job: w.job.ID, Age: next.Age, Paused: next.Paused}
	was := w.was
	if was == nil {
		was = &state.Pending{}
	}
	if next.Since != was.Since || !slices.Equal(next.Held, was.Held) {
		out.Changed, out.Since, out.Held = true, next.Since, next.Held
	}
	where, _ := w.job.Attrs.Get("estimated", "exec_vnode")
	if w.start != w.job.EstimatedStart() || w.where != where {
		out.Told, out.Start, out.ExecVnode = true, w.start, w.where
	}
	if w.was != nil && !out.Changed && !out.Told && next.Age == was.Age && next.Paused == was.Paused {
		return nil, true
	}
	return out, true
}
