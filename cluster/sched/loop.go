package sched

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Proposer commits a proposal and returns its outcome.
type Proposer interface {
	Propose(ctx context.Context, p command.Proposal) (command.Outcome, error)
}

// Source is where the loop reads the state.
type Source interface {
	View() *state.View
	// Changed returns a channel that is closed when a newer view is there.
	Changed() <-chan struct{}
}

// Log takes lines of the scheduler's log.
type Log interface {
	// SetMask changes which events are written from now on, by whomever.
	SetMask(events uint16)
	Write(at time.Time, event uint16, class, object, text string) error
}

// Options of a Loop.
type Options struct {
	Name     string // of the scheduler; empty: the default one
	Source   Source
	Proposer Proposer
	Log      Log
	Asker    pbs.User // Scheduler@HOST, with this replica's host
	Meter    *Meter   // nil: nobody counts
	Approve  Approve  // asks hooks about starts; nil: there are none
	Turns    *Turns   // nil: nobody else plans
	Rounds   *Rounds  // nil: nobody waits for a cycle
	Loads    *Loads   // what hosts say of their load; nil: nothing
	Dynamic  Dynamic  // runs the programs of server_dyn_res; nil: nobody does
	Logger   *slog.Logger
}

// Loop plans whenever the state has changed, and proposes what was planned.
type Loop struct {
	opts      Options
	planner   *Planner
	commented time.Time // when comments were proposed last
	updated   time.Time // when all were that a cycle had: attr_update_period begins
	approving sync.WaitGroup
	mu        sync.Mutex
	asking    map[pbs.JobID]bool // starts that hooks look at now
	barred    map[pbs.JobID]bar  // jobs that they have refused, or want to be others
	pacer     pacer
	decayed   pbs.Time // when the usage of fair share decayed last, as far as it was noted
	told      told
	rest      time.Duration // after the last cycle, at least
	mask      atomic.Uint32 // of events that are logged: the scheduler's log_events
}

const (
	// breath is how long the scheduler rests after a cycle at least: what changes meanwhile comes into the next one together.
	breath = 5 * time.Millisecond
	// coalesce is the time between two cycles while something changes all the time, so that many share one. Before it counts, cycles
	// may be ahead of it by haste: who does a few things, one after the other, has a job started at once.
	coalesce = 20 * time.Millisecond
	haste    = 10 * coalesce
	// restFactor keeps cycles over a long queue from taking more than a fifth of a core. It counts for the time in which a cycle
	// plans: while its proposals are on their way it waits.
	restFactor = 4
	// decidesFactor is the factor after a cycle that has decided about reservations, for whose answers people wait.
	decidesFactor = 1
	// inFlight is how many proposals wait for their commit at a time.
	inFlight = 256
	// commentsEvery bounds how often comments are written: few and often, for a cycle is the longer the more it has to say.
	commentsEvery = 250 * time.Millisecond
	// commentsAtOnce is how many jobs one command comments on.
	commentsAtOnce = 250
)

// New returns a loop for one term of leadership.
func New(opts Options) *Loop {
	if opts.Meter == nil {
		opts.Meter = NewMeter(nil)
	}
	l := &Loop{opts: opts, planner: NewPlanner(), asking: map[pbs.JobID]bool{}, barred: map[pbs.JobID]bar{}}
	l.planner.loads = opts.Loads
	return l
}

// view returns the state as the scheduler sees it; false: there is no such scheduler any more.
func (l *Loop) view() (*state.View, bool) {
	return l.opts.Source.View().For(cmp.Or(l.opts.Name, state.DefaultScheduler))
}

// Run plans and proposes until ctx ends, or there is no such scheduler any more.
func (l *Loop) Run(ctx context.Context) error {
	defer l.approving.Wait()
	var due time.Time // of the next cycle, if all had come at their pace
	for {
		changed := l.opts.Source.Changed()
		v, there := l.view()
		if !there {
			return nil
		}
		mask := logEvents(v)
		l.mask.Store(uint32(mask))
		l.opts.Log.SetMask(mask)
		l.noteResources(v)
		idle := max(time.Second, time.Duration(v.Server().Int("scheduler_iteration"))*time.Second)
		rest := time.Duration(0)
		switch {
		case l.hot(ctx, v):
			idle, rest = 0, hotEvery // a start that is refused changes the state, too
		case v.Server().Scheduling():
			asked := time.Now()
			l.planner.dynamic = l.dynamic(ctx, v) // the programs may take long: nobody waits for them but the cycle
			programs := time.Since(asked)
			end := l.opts.Turns.Take(ctx)
			l.rest = 0
			if v, there = l.view(); there && v.Server().Scheduling() { // it may be off by now, with jobs that are not to start
				idle = min(idle, l.cycle(ctx, v), l.told.due(idle))
			}
			rest = max(l.rest, programs)
			end()
		}
		if !there {
			return nil
		}
		l.opts.Rounds.done(v.Index())
		ahead := min(max(0, time.Until(due)), haste) // no more: cycles that somebody waited for came without a rest
		due = time.Now().Add(ahead + coalesce)
		if !wait(ctx, changed, l.opts.Rounds.due(), idle, max(rest, breath, ahead+coalesce-haste)) {
			return nil
		}
	}
}

// wait returns true when the next cycle is due: after some rest at a change, which may have come by then, or when idle time has
// passed; or at once, for somebody wants it. False is the end of the term.
func wait(ctx context.Context, changed, wanted <-chan struct{}, idle, rest time.Duration) bool {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wanted:
		return true
	case <-timer.C:
	}
	timer.Reset(idle)
	select {
	case <-ctx.Done():
		return false
	case <-wanted:
	case <-changed:
	case <-timer.C:
	}
	return true
}

// forever is longer than any scheduler_iteration.
const forever = time.Duration(math.MaxInt64)

// cycle plans once and proposes the plan. It returns when the next one is due
// even if nothing changes.
func (l *Loop) cycle(ctx context.Context, v *state.View) time.Duration {
	quiet, started := l.quiet(v), time.Now()
	if !quiet {
		l.log(pbs.LogDebug, "Req", "", cycleStarts)
	}
	defer timed(l.opts.Meter.cycle)()
	cycling := l.opts.Meter.cyclingOf(l.opts.Name)
	cycling.Store(true)
	defer cycling.Store(false)
	planned := timed(l.opts.Meter.plan)
	began, most := time.Now(), cycleLength(v)
	l.planner.late = func() bool { return time.Since(began) >= most }
	l.planner.barred, l.planner.nonPreempting = l.bars(v)
	l.planner.ahead = l.pacer.ahead(v)
	l.planner.detailed = l.mask.Load()&uint32(pbs.LogDebug3) != 0
	l.planner.sparing = time.Since(l.updated) < updatePeriod(v)
	plan := l.planner.Plan(v, v.Now())
	planned()
	l.opts.Meter.planned.Add(float64(len(plan.Starts)))
	l.noteDecay(v)
	if quiet && plan.acts() {
		quiet = false
		l.logAt(started, pbs.LogDebug, "Req", "", cycleStarts)
	}
	if !quiet {
		l.logLines(l.planner.hours.lines())
		l.logSets(v)
		l.logLines(plan.Lines)
	}
	l.rest = restFactor * time.Since(began)
	if len(plan.Decisions) > 0 {
		l.rest = decidesFactor * time.Since(began)
	}
	if plan.Late {
		l.log(pbs.LogSched, "Svr", "toolong", fmt.Sprintf("Leaving the scheduling cycle: Cycle duration of %d seconds has exceeded sched_cycle_length of %d seconds",
			time.Since(began)/time.Second, most/time.Second))
	}
	l.decide(ctx, v, plan.Decisions)
	l.preempt(ctx, plan.Preempts)
	l.stopForLoad(ctx, plan.LoadStops)
	l.propose(ctx, v, l.approved(ctx, v, plan.Starts))
	l.resume(ctx, v, plan.Resumes) // whom those made way for have started by then
	l.keep(ctx, plan.Pending)
	due := min(l.comment(ctx, v, &plan), l.pacer.due(plan))
	l.ready(ctx, v)
	if l.planner.goesByLoad {
		l.opts.Loads.Look()
		due = min(due, loadEvery)
	}
	if !quiet {
		l.log(pbs.LogDebug, "Req", "", "Leaving Scheduling Cycle")
		l.told.at = started
	}
	l.told.stirred, l.told.partly = v.Stirred(), plan.More || plan.Late
	if plan.More {
		return 0
	}
	if plan.Again != 0 {
		due = min(due, max(0, time.Duration(plan.Again-v.Now()))+time.Millisecond)
	}
	return due
}

// decisionsAtOnce is how many decisions one proposal has.
const decisionsAtOnce = 32

// decide proposes what reservations get, in their order. Once one is refused, the plan was old: what is denied beside it might
// fit, and is decided again in the next cycle.
func (l *Loop) decide(ctx context.Context, v *state.View, all []*command.DecideReservation) {
	old := false
	for some := range slices.Chunk(all, decisionsAtOnce) {
		if !old && l.decideSome(ctx, v, some) {
			continue
		}
		for _, d := range some {
			if old && d.Why != "" {
				continue
			}
			old = !l.decideSome(ctx, v, []*command.DecideReservation{d}) || old
		}
	}
}

// decideSome proposes decisions as one; false: it is refused.
func (l *Loop) decideSome(ctx context.Context, v *state.View, some []*command.DecideReservation) bool {
	p := command.Proposal{Asker: l.opts.Asker}
	for _, d := range some {
		p.Commands = append(p.Commands, d)
	}
	out, err := l.opts.Proposer.Propose(ctx, p)
	if out.Refusal != nil {
		if len(some) == 1 {
			l.opts.Meter.rejected.Inc()
			l.log(pbs.LogResv, "Resv", string(some[0].Reservation), "Not decided: "+out.Refusal.Message)
		}
		return false
	}
	for _, d := range some {
		if err == nil {
			l.decided(v, d)
		} else if ctx.Err() == nil {
			l.opts.Logger.Warn("propose the decision of a reservation", "reservation", d.Reservation, "error", err)
		}
	}
	return true
}

// decided logs what has become of a reservation.
func (l *Loop) decided(v *state.View, d *command.DecideReservation) {
	r, ok := v.Reservation(d.Reservation)
	again := ok && r.State != pbs.ResvUnconfirmed && r.State != pbs.ResvBeingAltered
	texts := []string{"Reservation Confirmed"}
	switch {
	case d.Why != "" && again:
		texts = []string{"Reservation Failed to Reconfirm: " + d.Why, "Reservation is in degraded mode"}
	case d.Why != "":
		texts = []string{"PBS Failed to confirm resv: " + d.Why}
	}
	for _, text := range texts {
		l.log(pbs.LogResv, "Resv", string(d.Reservation), text)
	}
}

// noteDecay logs that the usage of fair share has decayed since the last cycle.
func (l *Loop) noteDecay(v *state.View) {
	if last := l.decayed; last != 0 && last != v.Cluster().Decayed {
		l.log(pbs.LogDebug2, "Svr", "Fairshare", "Decaying Fairshare Tree")
	}
	l.decayed = v.Cluster().Decayed
}

// cycleLength returns how long a cycle may look at jobs: sched_cycle_length.
func cycleLength(v *state.View) time.Duration {
	q, err := resource.Parse(resource.Time, v.Server().SchedGet("sched_cycle_length"))
	if err != nil || q.Int() > int64(forever/time.Second) {
		return forever
	}
	return time.Duration(q.Int()) * time.Second
}

// runTime returns the time as comments of running jobs have it.
func runTime(v *state.View) string {
	return inZone(v, v.Now()).Format("Mon Jan 02 at 15:04")
}

// inZone returns a time as the server's zone has it.
func inZone(v *state.View, at pbs.Time) time.Time {
	loc, err := time.LoadLocation(v.Server().Get("timezone"))
	if err != nil {
		loc = time.UTC
	}
	return time.Unix(0, int64(at)).In(loc)
}

// logEvents returns the events that the scheduler's log takes.
func logEvents(v *state.View) uint16 {
	mask, _ := strconv.ParseInt(v.Server().SchedGet("log_events"), 10, 64)
	return uint16(mask)
}

func (l *Loop) log(event uint16, class, object, text string) {
	l.logAt(time.Now(), event, class, object, text)
}

func (l *Loop) logAt(at time.Time, event uint16, class, object, text string) {
	if uint32(event)&l.mask.Load() == 0 {
		return
	}
	if err := l.opts.Log.Write(at, event, class, object, text); err != nil {
		l.opts.Logger.Error("write the scheduler's log", "error", err)
	}
}
