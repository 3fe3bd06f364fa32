package sched

import (
	"context"
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
	// tameFor is how long a job preempts nobody since its start was refused: its victims would have gone for nothing
	// whenever it is asked about again.
	tameFor = time.Hour
)

// A bar keeps a job from being planned.
type bar struct {
	until         time.Time
	long          time.Duration
	nonPreempting bool // it preempts nobody either, as long as it waits
}

// again returns the bar of a job that does not start this time either.
func (b bar) again(now time.Time, refused bool) bar {
	long := barFirst
	if b.long > 0 && !now.After(b.until.Add(barMost)) {
		long = min(2*b.long, barMost)
	}
	return bar{now.Add(long), long, refused || b.long > 0}
}

// over reports whether nothing is left of a bar: who was not asked about again for so long has no room.
func (b bar) over(now time.Time) bool {
	if b.nonPreempting {
		return now.After(b.until.Add(tameFor))
	}
	return now.After(b.until.Add(barMost))
}

// Approve asks the hooks of runjob about starts that belong together. It says of each, as soon as
// it is known, what they say of it; of those that it says nothing about, nothing is known, and they
// are planned again.
type Approve func(ctx context.Context, v *state.View, starts []Start, say func(id pbs.JobID, said Verdict))

// A Verdict is what hooks say of a start.
type Verdict struct {
	Why string // it is refused; empty: it may begin
	// Changes are made to the job that starts, or that is refused.
	Changes []command.AttrChange
	// Again is set if the changes concern what vnodes are chosen by: the job is altered, and planned
	// again as it is then.
	Again bool
}

func (s Verdict) starts() bool { return s.Why == "" && !s.Again }

// approved returns the starts that can be proposed at once. Where hooks are asked, that is
// none: the cycle does not wait for them, and what they approve is proposed when they have
// answered. Meanwhile the jobs are planned again, and so keep their places.
func (l *Loop) approved(ctx context.Context, v *state.View, starts []Start) []Start {
	if l.opts.Approve == nil || len(starts) == 0 || !v.HasHooksAt("runjob") {
		return starts
	}
	l.mu.Lock()
	var ask []Start
	now := l.opts.Source.View() // has the start of a job that is not asked about any more, which v may not have
	for _, s := range starts {
		if j, recorded := now.Job(s.Job); recorded && !j.Startable() {
			continue
		}
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
	left := map[pbs.JobID]Start{}
	for _, s := range starts {
		left[s.Job] = s
	}
	said := make(chan verdict, len(starts))
	go func() {
		defer close(said)
		l.opts.Approve(ctx, v, starts, func(id pbs.JobID, one Verdict) { said <- verdict{id, one} })
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

// A verdict is what hooks say of the start of a job.
type verdict struct {
	job pbs.JobID
	Verdict
}

// follow does what the hooks have said, and takes it from what is left.
func (l *Loop) follow(ctx context.Context, v *state.View, said []verdict, left map[pbs.JobID]Start) {
	var good []Start
	var refused []Comment
	l.mu.Lock()
	for _, one := range said {
		if !one.starts() {
			l.barred[one.job] = l.barred[one.job].again(time.Now(), one.Why != "")
			if one.Why != "" {
				refused = append(refused, Comment{Job: whole(v, one.job), Why: state.Wait{Code: state.WaitRefused, Words: one.Why}})
			}
			continue
		}
		delete(l.barred, one.job)
		start := left[one.job]
		start.changes = append(start.changes, one.Changes...)
		good = append(good, start)
	}
	l.mu.Unlock()
	if ctx.Err() == nil {
		l.propose(ctx, v, good)
	}
	if ctx.Err() == nil {
		l.tell(ctx, refused)
	}
	l.alter(ctx, said) // a job that is held then has its comment
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range said {
		delete(l.asking, one.job)
		delete(left, one.job)
	}
}

// alter proposes what hooks have changed of jobs that do not start.
func (l *Loop) alter(ctx context.Context, said []verdict) {
	for _, one := range said {
		if one.starts() || len(one.Changes) == 0 || ctx.Err() != nil {
			continue
		}
		alter := command.AltersAtStart(one.job, one.Changes, one.Again)
		id := alter.Job
		out, err := l.opts.Proposer.Propose(ctx, command.Proposal{Asker: l.opts.Asker, Commands: []command.Command{alter}})
		switch {
		case out.Refusal != nil:
			l.log(pbs.LogSched, "Job", string(id), "Not altered: "+out.Refusal.Message)
		case err != nil:
			l.fail(ctx, id, err)
		}
	}
}

// whole returns the job whose comment says why a start is refused: of a subjob without a record
// it is the array.
func whole(v *state.View, id pbs.JobID) pbs.JobID {
	if _, recorded := v.Job(id); !recorded && id.Sub() > 0 {
		return id.Parent()
	}
	return id
}

// bars returns the jobs that hooks have refused to start lately, and those that hooks of
// postqueuejob have still to see, for they may want them to be others; and those that preempt nobody.
func (l *Loop) bars(v *state.View) (barred, nonPreempting map[pbs.JobID]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	barred, nonPreempting = map[pbs.JobID]bool{}, map[pbs.JobID]bool{}
	for id, b := range l.barred {
		if j, there := v.Job(whole(v, id)); b.over(now) || !there || j.State == pbs.Finished {
			delete(l.barred, id)
			continue
		}
		if !now.After(b.until) {
			barred[id] = true
		}
		if b.nonPreempting {
			nonPreempting[whole(v, id)] = true
		}
	}
	for id := range v.NewToHooks() {
		barred[id] = true
	}
	return barred, nonPreempting
}
