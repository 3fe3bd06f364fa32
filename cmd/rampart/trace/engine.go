package trace

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// The pace of a cluster, as it is measured on a quiet one.
const (
	// coalesce is how long after a change the scheduler plans at the latest.
	coalesce = pbs.Time(20 * time.Millisecond)
	// leastIdle and mostIdle bound how long the scheduler waits while jobs wait and nothing happens.
	leastIdle = pbs.Time(time.Minute)
	mostIdle  = pbs.Time(10 * time.Minute)
	// sampling is how often moms tell what jobs use, where fair share counts it.
	sampling = pbs.Time(10 * time.Minute)
)

// An event is something that is due.
type event struct {
	at  pbs.Time
	seq int
	do  func() []command.Proposal // nil: it plans
	due *life                     // it is the end of this one's program
}

type queue []*event

func (q queue) Len() int { return len(q) }

func (q queue) Less(a, b int) bool {
	return q[a].at < q[b].at || q[a].at == q[b].at && q[a].seq < q[b].seq
}

func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

func (q *queue) Push(x any) { *q = append(*q, x.(*event)) }

func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// An engine plays a workload.
type engine struct {
	*machine
	planner planner
	source  Source
	next    *Job // of the source; nil: there is none any more

	due     queue
	seq     int
	planned bool // a cycle is due
	lives   map[pbs.JobID]*life
	acked   map[pbs.HostName]uint64      // facts of hosts
	given   map[pbs.HostName]pbs.OrderID // orders that they have got
	session int64

	tick      pbs.Time // the last one
	sampled   pbs.Time
	commented pbs.Time

	shape    shape
	troubles *Troubles
	tally    *tally
	asker    pbs.User
	quit     func() bool
	seen     func(part float64, at pbs.Time) // how far it is; nil: nobody asks
	steps    int
	adopts   bool // jobs that no workload knows are taken to run for their walltime
	check    bool // the laws of the state, after every step
}

// ErrInterrupted is the end of a replay of which somebody has had enough.
var ErrInterrupted = errors.New("interrupted")

func newEngine(m *machine, source Source, troubles *Troubles, t *tally) *engine {
	e := &engine{
		machine: m, planner: sched.NewPlanner(), source: source, lives: map[pbs.JobID]*life{}, acked: map[pbs.HostName]uint64{},
		given: map[pbs.HostName]pbs.OrderID{}, troubles: troubles, tally: t, tick: m.at, asker: pbs.User{Name: "Scheduler", Host: serverName},
	}
	e.shape = shapeOf(m.view())
	m.hear = e.heard
	return e
}

// later queues what is to happen at a time.
func (e *engine) later(at pbs.Time, do func() []command.Proposal) *event {
	e.seq++
	ev := &event{at: at, seq: e.seq, do: do}
	heap.Push(&e.due, ev)
	return ev
}

// wantPlan has the scheduler plan soon.
func (e *engine) wantPlan() {
	if !e.planned {
		e.planned = true
		e.later(e.at+coalesce, nil)
	}
}

// run plays the workload to its end: until no job is left, or none of those that are left can start.
func (e *engine) run() error {
	if err := e.pull(); err != nil {
		return err
	}
	for {
		at, ok := e.nextTime()
		if !ok {
			return nil
		}
		if e.steps++; e.steps%64 == 0 {
			if e.quit != nil && e.quit() {
				return ErrInterrupted
			}
			if e.seen != nil {
				e.seen(e.source.Read(), e.at)
			}
		}
		if err := e.step(at); err != nil {
			return err
		}
		if e.check {
			if err := e.view().CheckLaws(); err != nil {
				return err
			}
		}
	}
}

// pull reads the next job of the source.
func (e *engine) pull() (err error) {
	e.next, err = e.source.Next()
	if errors.Is(err, io.EOF) {
		e.next, err = nil, nil
	}
	return err
}

// nextTime returns when something is due next; false: nothing is, and nothing will be.
func (e *engine) nextTime() (pbs.Time, bool) {
	at := pbs.Time(0)
	soonest := func(t pbs.Time) {
		if at == 0 || t < at {
			at = t
		}
	}
	if len(e.due) > 0 {
		soonest(e.due[0].at)
	}
	if e.next != nil {
		soonest(max(e.at, e.next.Submit))
	}
	if tick, ok := e.nextTick(at != 0); ok {
		soonest(tick)
	}
	return at, at != 0
}

// nextTick returns when the time of the log is to move on, whatever happens. Once nothing else is due it does so for what waits
// for its time, and for jobs for which the scheduler has not found out that they will never start, until idleRounds are over.
func (e *engine) nextTick(alive bool) (pbs.Time, bool) {
	v := e.view()
	waits := v.QueuedCount() > 0
	for j := range v.Due() {
		return min(max(e.at, j.ExecAt), e.regular(waits)), true
	}
	if at, ok := v.NextReservation(); ok {
		return min(max(e.at, at), e.regular(waits)), true
	}
	if !alive && (!waits || e.tally.idle >= idleRounds) {
		return 0, false
	}
	return e.regular(waits), true
}

// idleRounds is how many cycles may start nothing while nothing runs and nothing is due before no job is expected to start any
// more: those of two weeks, so that weekends and holidays pass.
const idleRounds = 14 * 24 * 6

// regular returns the next tick of the regular ones, which fall on full minutes of the clock.
func (e *engine) regular(waits bool) pbs.Time {
	every := mostIdle
	if waits {
		every = min(mostIdle, max(leastIdle, pbs.Time(e.view().Server().Int("scheduler_iteration"))*pbs.Time(time.Second)))
	}
	return (e.tick/every + 1) * every
}

// step does all that is due at a time.
func (e *engine) step(at pbs.Time) error {
	e.machine.at = max(at, e.machine.at)
	var all []command.Proposal
	cycle := false
	for len(e.due) > 0 && e.due[0].at <= at {
		ev := heap.Pop(&e.due).(*event)
		switch {
		case ev.do == nil:
			cycle = true
		case ev.due == nil || ev.due.due == ev.seq:
			all = append(all, ev.do()...)
		}
	}
	if t, ok := e.nextTick(true); ok && t <= at {
		all = append(all, e.ticked(at)...)
	}
	submits := len(all)
	var jobs []*Job
	for e.next != nil && e.next.Submit <= at {
		all, jobs = append(all, command.Proposal{Commands: []command.Command{e.submission(e.next)}}), append(jobs, e.next)
		if err := e.pull(); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		outcomes := e.entry(all...)
		for i, out := range outcomes[submits:] {
			e.submitted(jobs[i], out)
		}
		if err := e.refused(all, outcomes[:submits]); err != nil {
			return err
		}
	}
	if cycle {
		e.planned = false
		e.cycle()
	}
	e.deliver()
	return nil
}

// refused tells of what a mom reports, which is never refused.
func (e *engine) refused(all []command.Proposal, outcomes []command.Outcome) error {
	for i, out := range outcomes {
		if out.Refusal != nil {
			return fmt.Errorf("%T: %s", all[i].Commands[0], out.Refusal.Message)
		}
	}
	return nil
}

// ticked moves the time of the log on.
func (e *engine) ticked(at pbs.Time) []command.Proposal {
	e.tick = at
	if e.view().QueuedCount() > 0 {
		e.wantPlan()
	}
	for j := range e.view().Due() {
		if j.ExecAt <= at {
			e.wantPlan()
		}
		break
	}
	all := []command.Proposal{{Commands: []command.Command{&command.TimeTick{}}}}
	if e.view().Server().FairShare() && at >= e.sampled+sampling {
		e.sampled = at
		all = append(all, e.samples(at)...)
	}
	return all
}

// heard notes what the entries give rise to.
func (e *engine) heard(events []state.Event) {
	for _, ev := range events {
		if ev.Job == nil {
			continue
		}
		if l := e.lives[ev.Job.ID]; l != nil && e.tally.event(l, ev) {
			delete(e.lives, l.id)
		}
	}
}
