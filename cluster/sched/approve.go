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

// Approve asks the hooks of runjob about starts that belong together. It says of each, as soon as
// it is known, why it is refused, or "" of one that may begin; of those that it says nothing about,
// nothing is known, and they are planned again.
type Approve func(ctx context.Context, v *state.View, starts []pbs.JobID, say func(id pbs.JobID, why string))

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

// ask proposes what the hooks approve, many at a time, and without waiting for those that are
// still being looked at.
func (l *Loop) ask(ctx context.Context, v *state.View, starts []Start) {
	ids, left := make([]pbs.JobID, len(starts)), map[pbs.JobID]Start{}
	for i, s := range starts {
		ids[i], left[s.Job] = s.Job, s
	}
	said := make(chan verdict, len(starts))
	go func() {
		defer close(said)
		l.opts.Approve(ctx, v, ids, func(id pbs.JobID, why string) { said <- verdict{id, why} })
	}()
	for first := range said {
		some := []verdict{first}
		for more := true; more; {
			select {
			case next, ok := <-said:
				if more = ok; ok {
					some = append(some, next)
				}
			default:
				more = false
			}
		}
		l.follow(ctx, v, some, left)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range left {
		delete(l.asking, id)
	}
}

// A verdict is what hooks say of a start: why not, or "".
type verdict struct {
	job pbs.JobID
	why string
}

// follow does what the hooks have said, and takes it from what is left.
func (l *Loop) follow(ctx context.Context, v *state.View, said []verdict, left map[pbs.JobID]Start) {
	var good []Start
	set := &command.SetComments{}
	l.mu.Lock()
	for _, one := range said {
		if one.why != "" {
			long := min(max(barFirst, 2*l.barred[one.job].long), barMost)
			l.barred[one.job] = bar{time.Now().Add(long), long}
			set.Comments = append(set.Comments, command.JobComment{Job: one.job, Text: "Not Running: PBS Error: " + one.why})
			continue
		}
		delete(l.barred, one.job)
		good = append(good, left[one.job])
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
	for _, one := range said {
		delete(l.asking, one.job)
		delete(left, one.job)
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
