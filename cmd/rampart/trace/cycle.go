package trace

import (
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// commentsEvery is how often jobs are told why they wait, at most.
const commentsEvery = pbs.Time(time.Minute)

// A planner plans one cycle: *sched.Planner is one.
type planner interface {
	Plan(v *state.View, now pbs.Time) sched.Plan
}

// cycle has the scheduler plan, and what it has planned come about.
func (e *engine) cycle() {
	v := e.view()
	if v.QueuedCount() == 0 && !e.suspensions() && !e.reserves() {
		return
	}
	plan := e.planner.Plan(v, v.Now())
	e.tally.cycles++
	for _, d := range plan.Decisions {
		_ = e.do(d) // a refusal is an old plan: the next one is newer
	}
	for _, p := range plan.Preempts {
		if e.propose(&command.PreemptJob{Job: p.Job, RunCount: p.RunCount, Method: p.Method, For: p.For}) == nil {
			e.tally.preempted(p.Method)
			if l := e.lives[p.Job]; l != nil {
				l.times++
			}
		}
	}
	some := e.start(v, plan.Starts)
	for _, id := range plan.Resumes {
		_ = e.propose(sched.Resumption(v, id))
	}
	if plan.Pending != nil {
		_ = e.propose(plan.Pending)
	}
	e.comment(plan.Comments)
	if plan.More {
		e.wantPlan()
	}
	for _, again := range [...]pbs.Time{max(plan.Again, plan.Paused), plan.Turn} {
		if again > e.at {
			e.later(again, func() []command.Proposal { e.wantPlan(); return nil })
		}
	}
	e.tally.round(some || len(e.due) > 0 || e.next != nil)
}

func (e *engine) propose(c command.Command) error {
	return e.entry(command.Proposal{Asker: e.asker, Commands: []command.Command{c}})[0].Err()
}

func (e *engine) suspensions() bool {
	for range e.view().Suspensions() {
		return true
	}
	return false
}

func (e *engine) reserves() bool {
	for range e.view().Reservations() {
		return true
	}
	return false
}

// start proposes starts, and reports whether any of them took effect.
func (e *engine) start(v *state.View, starts []sched.Start) bool {
	if len(starts) == 0 {
		return false
	}
	all := make([]command.Proposal, len(starts))
	for i, s := range starts {
		all[i] = command.Proposal{Asker: e.asker, Commands: []command.Command{s.Command(v)}}
		if l := e.lives[s.Job]; l != nil {
			l.fills = s.Backfills
		}
	}
	some := false
	for _, out := range e.entry(all...) {
		some = some || out.Refusal == nil
	}
	return some
}

// comment tells jobs why they wait, as often as in production.
func (e *engine) comment(comments []sched.Comment) {
	if len(comments) == 0 || e.at < e.commented+commentsEvery {
		return
	}
	e.commented = e.at
	told := &command.SetWaits{}
	for _, c := range comments {
		told.Add(command.JobWait{Job: c.Job, Start: c.Start, ExecVnode: c.ExecVnode}, c.Why)
	}
	_ = e.propose(told)
}
