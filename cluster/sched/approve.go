package sched

import (
	"context"
	"maps"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A job whose start a hook has refused is passed over for a time that doubles with each
// refusal in a row: many such jobs must not keep the hooks busy.
const (
	barFirst = time.Second
	barMost  = 16 * time.Second
)

// A bar keeps a job from being planned.
type bar struct {
	until time.Time
	long  time.Duration
}

// Approve asks the hooks of runjob about starts that belong together. It returns why those
// are refused that are.
type Approve func(ctx context.Context, v *state.View, starts []pbs.JobID) map[pbs.JobID]string

// approved returns the starts that can be proposed at once. Where hooks are asked, that is
// none: the cycle does not wait for them, and what they approve is proposed when they have
// answered. Meanwhile the jobs are planned again, and so keep their places.
func (l *Loop) approved(ctx context.Context, v *state.View, starts []Start) []Start {
	if l.opts.Approve == nil || len(starts) == 0 || !v.HasHooksAt("runjob") {
		return starts
	}
	l.mu.Lock()
	var ask []Start
	for _, s := range starts {
		if !l.asking[s.Job] {
			l.asking[s.Job] = true
			ask = append(ask, s)
		}
	}
	l.mu.Unlock()
	if len(ask) > 0 {
		l.approving.Go(func() { l.ask(ctx, v, ask) })
	}
	return nil
}

func (l *Loop) ask(ctx context.Context, v *state.View, starts []Start) {
	ids := make([]pbs.JobID, len(starts))
	for i, s := range starts {
		ids[i] = s.Job
	}
	refused := l.opts.Approve(ctx, v, ids)
	var good []Start
	set := &command.SetComments{}
	l.mu.Lock()
	for _, s := range starts {
		why, no := refused[s.Job]
		if no {
			long := min(max(barFirst, 2*l.barred[s.Job].long), barMost)
			l.barred[s.Job] = bar{time.Now().Add(long), long}
			set.Comments = append(set.Comments, command.JobComment{Job: s.Job, Text: "Not Running: PBS Error: " + why})
			continue
		}
		delete(l.barred, s.Job)
		good = append(good, s)
	}
	l.mu.Unlock()
	if ctx.Err() == nil {
		l.propose(ctx, v, good)
	}
	for len(set.Comments) > 0 && ctx.Err() == nil {
		n := min(len(set.Comments), commentsAtOnce)
		some := &command.SetComments{Comments: set.Comments[:n]}
		set.Comments = set.Comments[n:]
		if _, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{some}}); err != nil {
			l.fail(ctx, some.Comments[0].Job, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range starts {
		delete(l.asking, s.Job)
	}
}

// bars returns the jobs that hooks have refused to start lately.
func (l *Loop) bars() map[pbs.JobID]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	// Who was not asked about again for so long is gone, or has no room.
	maps.DeleteFunc(l.barred, func(_ pbs.JobID, b bar) bool { return now.After(b.until.Add(barMost)) })
	var out map[pbs.JobID]bool
	for id, b := range l.barred {
		if now.After(b.until) {
			continue
		}
		if out == nil {
			out = map[pbs.JobID]bool{}
		}
		out[id] = true
	}
	return out
}
