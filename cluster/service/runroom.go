package service

import (
	"context"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

const (
	// roomWithin bounds the wait of qrun for those that make way.
	roomWithin = 30 * time.Second
	// lookAgain is how long a change waits for others before it is looked at.
	lookAgain = 20 * time.Millisecond
)

// preemptWords are what the scheduler's log says of a method of preemption.
var preemptWords = map[string]string{
	command.PreemptSuspend: "suspension", command.PreemptCheckpoint: "checkpointing",
	command.PreemptRequeue: "requeuing", command.PreemptDelete: "deletion",
}

// A turn is the right to plan with what is free, which the scheduler has not meanwhile. It is held
// from when others are to make way until the job for which they do has started.
type turn struct {
	take func(ctx context.Context, sched string) (end func())
	end  func()
}

// hold takes the turn; false: it is held already.
func (t *turn) hold(ctx context.Context, sched string) bool {
	if t.take == nil || t.end != nil {
		return false
	}
	t.end = t.take(ctx, sched)
	return true
}

func (t *turn) over() {
	if t.end != nil {
		t.end()
	}
}

// room returns where a job can start at once, if need be when others have made way for it: a job that an operator starts
// has the highest level.
func (b *Batch) room(ctx context.Context, p person, j *state.Job, t *turn) (string, error) {
	defer transport.Working(ctx)()
	sched := p.view.SchedulerOf(j.Queue)
	b.logPlacing(sched, "Starting Scheduling Cycle")
	defer b.logPlacing(sched, "Leaving Scheduling Cycle")
	ctx, cancel := context.WithTimeout(ctx, roomWithin)
	defer cancel()
	v, asked := p.view, map[pbs.JobID]bool{}
	for {
		changed := b.Replica.Changed()
		where, makeWay, why := b.Place(v, j)
		switch {
		case why != "":
			return "", &pbs.Error{Code: pbs.ResourceBusy, Message: why}
		case where != "":
			return where, nil
		case t.hold(ctx, sched): // a cycle may have changed what is free
			var err error
			if v, err = b.Replica.Read(ctx, cluster.Stale); err != nil {
				return "", err
			}
			continue
		}
		for _, c := range makeWay {
			if asked[c.Job] {
				return "", pbs.Errorf(pbs.ResourceBusy, "%s was preempted, and runs again", c.Job)
			}
			asked[c.Job] = true
			_ = b.preempt(ctx, p, sched, c) // one that ends by itself at this moment makes way anyway
		}
		if !pause(ctx, changed) {
			return "", pbs.Errorf(pbs.ResourceBusy, "the jobs that are preempted for %s have not made way yet", j.ID)
		}
		var err error
		if v, err = b.Replica.Read(ctx, cluster.Stale); err != nil {
			return "", err
		}
	}
}

// pause waits for a change, and a little longer; false: the time is over.
func pause(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	}
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// preempt has a job make way.
func (b *Batch) preempt(ctx context.Context, p person, sched string, c *command.PreemptJob) error {
	_, err := b.propose(ctx, command.Proposal{Asker: p.user, Commands: []command.Command{c}})
	if err == nil && b.SchedLog != nil {
		return b.SchedLog(sched).Write(time.Now(), pbs.LogSched, "Job", string(c.Job), "Job preempted by "+preemptWords[c.Method])
	}
	return err
}

// logPlacing tells in the scheduler's log that a job is placed by itself.
func (b *Batch) logPlacing(sched, text string) {
	if b.SchedLog == nil {
		return
	}
	if err := b.SchedLog(sched).Write(time.Now(), pbs.LogDebug, "Req", "", text); err != nil {
		b.Logger.Error("write the scheduler's log", "error", err)
	}
}
