package sched

import (
	"context"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// propose proposes the starts, some of them together and many at a time: group commit makes few entries of them.
func (l *Loop) propose(ctx context.Context, v *state.View, starts []Start) {
	var g errgroup.Group
	g.SetLimit(inFlight)
	when := runTime(v)
	for _, of := range together(starts) {
		g.Go(func() error {
			for some := range slices.Chunk(of, startsAtOnce) {
				l.start(ctx, some, when)
			}
			return nil
		})
	}
	_ = g.Wait()
}

const (
	// startsAtOnce is how many jobs, or subjobs of an array, one proposal starts.
	startsAtOnce = 32
	// startsBytes bounds the vnodes of those together, as text: a job that has many is by itself.
	startsBytes = 64 << 10
)

// together groups starts. Jobs are together as they were planned, so that they start in that order; the subjobs of an array follow each
// other by their indices.
func together(starts []Start) [][]Start {
	var all [][]Start
	arrays := map[pbs.JobID]int{}
	jobs, bytes := -1, 0
	for _, s := range starts {
		if parent := s.Job.Parent(); s.Job.Sub() > 0 {
			at, met := arrays[parent]
			if !met {
				at = len(all)
				all, arrays[parent] = append(all, nil), at
			}
			all[at] = append(all[at], s)
			continue
		}
		if bytes += len(s.ExecVnode); jobs < 0 || len(all[jobs]) == startsAtOnce || bytes > startsBytes {
			jobs, bytes = len(all), len(s.ExecVnode)
			all = append(all, nil)
		}
		all[jobs] = append(all[jobs], s)
	}
	return all
}

// start proposes starts in their order, as one, and each by itself if one of them is refused.
func (l *Loop) start(ctx context.Context, some []Start, when string) {
	p := command.Proposal{Asker: l.opts.Asker}
	for _, s := range some {
		p.Commands = append(p.Commands, s.command(when))
	}
	out, err := l.opts.Proposer.Propose(ctx, p)
	if out.Refusal != nil && len(some) > 1 {
		for i := range some {
			l.start(ctx, some[i:i+1], when)
		}
		return
	}
	for _, s := range some {
		switch {
		case out.Refusal != nil: // the plan was old: the next cycle sees why
			l.opts.Meter.rejected.Inc()
			l.told.refused.Store(true)
			l.log(pbs.LogSched, "Job", string(s.Job), state.NotRunning+out.Refusal.Message)
		case err != nil:
			l.fail(ctx, s.Job, err)
		default:
			l.opts.Meter.started.Inc()
			l.log(pbs.LogSched, "Job", string(s.Job), "Job run")
		}
	}
}

// resume proposes to resume suspended jobs.
func (l *Loop) resume(ctx context.Context, v *state.View, jobs []pbs.JobID) {
	for _, id := range jobs {
		l.proposeFor(ctx, id, Resumption(v, id), "Not resumed: ", "Job resumed")
	}
}

// proposeFor proposes a command about a job, and logs what has come of it.
func (l *Loop) proposeFor(ctx context.Context, id pbs.JobID, c command.Command, refused, done string) {
	out, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{c}})
	switch {
	case out.Refusal != nil:
		l.log(pbs.LogSched, "Job", string(id), refused+out.Refusal.Message)
	case err != nil:
		l.fail(ctx, id, err)
	default:
		l.log(pbs.LogSched, "Job", string(id), done)
	}
}

// Resumption returns the command that has a suspended job go on, in a state that the plan was made for.
func Resumption(v *state.View, id pbs.JobID) *command.SignalJob {
	c := &command.SignalJob{Job: id, Signal: command.Resume, Scheduled: true}
	if j, ok := v.Job(id); ok && j.State == pbs.Running {
		c.Comment = runComment(runTime(v), j.Run.ExecVnode.String())
	}
	return c
}

// words says how jobs were preempted, by method.
var words = map[string]string{
	command.PreemptSuspend: "suspension", command.PreemptCheckpoint: "checkpointing",
	command.PreemptRequeue: "requeuing", command.PreemptDelete: "deletion",
}

// preempt proposes to preempt running jobs. What others wait for comes when the moms have
// confirmed it: the cycle after that starts them.
func (l *Loop) preempt(ctx context.Context, all []Preempt) {
	var g errgroup.Group
	g.SetLimit(inFlight)
	for _, p := range all {
		g.Go(func() error {
			preempt := &command.PreemptJob{Job: p.Job, RunCount: p.RunCount, Method: p.Method, For: p.For}
			l.proposeFor(ctx, p.Job, preempt, "Not preempted: ", "Job preempted by "+words[p.Method])
			return nil
		})
	}
	_ = g.Wait()
}

// comment proposes the comments, not too often; it returns how long those that
// are left have to wait. The site may have them come once in attr_update_period only, but for what changes a job's accrue_type.
func (l *Loop) comment(ctx context.Context, v *state.View, plan *Plan) time.Duration {
	due := forever
	if plan.Withheld {
		due = max(0, updatePeriod(v)-time.Since(l.updated))
	}
	if len(plan.Comments) == 0 {
		return due
	}
	if since := time.Since(l.commented); since < commentsEvery {
		return min(due, commentsEvery-since)
	}
	l.commented = time.Now()
	l.tell(ctx, plan.Comments)
	if len(plan.Comments) == usual.comments {
		return commentsEvery
	}
	if !l.planner.sparing {
		l.updated = l.commented
	}
	return due
}

// updatePeriod returns how long nothing more is said of jobs that wait: attr_update_period.
func updatePeriod(v *state.View) time.Duration {
	n, _ := strconv.Atoi(v.Server().SchedGet("attr_update_period"))
	return time.Duration(n) * time.Second
}

// accruesAnew reports whether a comment changes what the time of a job that waits counts as.
func accruesAnew(v *state.View, c Comment) bool {
	j, ok := v.Job(c.Job)
	return ok && j.Accrued != nil && c.Why.Code != 0 && j.Accrued.Type != c.Why.Accrues()
}

// keep proposes what is kept for jobs that wait.
func (l *Loop) keep(ctx context.Context, all *command.KeepPending) {
	if all == nil {
		return
	}
	if _, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{all}}); err != nil && ctx.Err() == nil {
		l.opts.Logger.Warn("propose what is kept for jobs that wait", "jobs", len(all.Jobs), "error", err)
	}
}

// tell proposes why jobs wait.
func (l *Loop) tell(ctx context.Context, comments []Comment) {
	for chunk := range slices.Chunk(comments, commentsAtOnce) {
		set := &command.SetWaits{}
		for _, c := range chunk {
			set.Add(c.wait(), c.Why)
		}
		_, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{set}})
		if err != nil {
			l.fail(ctx, chunk[0].Job, err)
		}
	}
}

// ready says that a cycle was planned by the configuration that badmin reconfig has brought, once.
func (l *Loop) ready(ctx context.Context, v *state.View) {
	if !v.Unplanned() {
		return
	}
	set := &command.SetWaits{Planned: v.Reconfigured().Revision}
	if _, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{set}}); err != nil && ctx.Err() == nil {
		l.opts.Logger.Warn("propose that a cycle has followed the configuration", "error", err)
	}
}

// fail notes a proposal that came to nothing, or whose outcome is not known: in
// either case the state tells, and the next cycle reads it.
func (l *Loop) fail(ctx context.Context, job pbs.JobID, err error) {
	if ctx.Err() == nil {
		l.opts.Logger.Warn("propose a scheduling decision", "job", job, "error", err)
	}
}
