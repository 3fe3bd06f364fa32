package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/pause"
)

// defaultWait is how long the sisters of a job that tolerates failures are waited for if
// neither the site nor the alarms of hooks say.
const defaultWait = 30 * time.Second

// slotFor is how long one that does not answer takes the place of another that could be asked.
const slotFor = time.Second

// waitFor is the longest wait at a step of the start (specification: reliable-startup
// section 12).
func (s *Site) waitFor(step StartStep) time.Duration {
	set, alarms := s.Settings().JoinAlarm, s.patience("execjob_begin")
	if step == StepPrologue {
		set, alarms = s.Settings().LaunchDelay, s.patience("execjob_prologue")
	}
	switch {
	case set > 0:
		return set
	case alarms > 0:
		return alarms
	}
	return defaultWait
}

// joinTolerant has the sisters join, and goes on without those that do not in time. They are
// asked for as long as the start lasts.
func (r *Runner) joinTolerant(ctx, hooks context.Context, t Task) Event {
	used, err := r.site.begun(hooks, t)
	if err != nil {
		return unless(ctx, JoinFailed{Reason: err.Error(), Code: hookCode(err), Fault: r.site.fault(err)})
	}
	slots, news := make(chan struct{}, peersAtOnce), &answers{}
	start, cancel := context.WithCancel(ctx)
	r.wg.Go(func() {
		defer cancel()
		_, _ = r.Await(start, func(t Task) bool { return !t.State().starting() })
	})
	for _, h := range t.sisters() {
		r.wg.Go(func() { r.pursue(start, t, h, slots, news) })
	}
	longest := r.site.waitFor(StepJoin)
	over, err := r.awaitSisters(hooks, StepJoin, longest)
	if err != nil {
		return nil // it was killed, or the mom goes away
	}
	if over {
		r.site.Lines.Job(pbs.LogAdmin, t.Key.Job, fmt.Sprintf("sister_join_job_alarm wait time %d secs exceeded", longest/time.Second))
	}
	return Joined{Used: used}
}

// awaitSisters waits until all sisters have done a step, or for the longest time; over says
// that they have not.
func (r *Runner) awaitSisters(ctx context.Context, step StartStep, longest time.Duration) (over bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	early := r.site.Settings().LaunchEarly
	_, err = r.Await(bounded, func(t Task) bool {
		if t.Life.Trial == nil || !t.State().starting() {
			return true
		}
		all, answered := t.Life.Trial.passed(step, t.sisters())
		return all || early && answered
	})
	switch {
	case err == nil:
		return false, nil
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return true, nil
	}
	return false, err
}

// pursue takes a sister through the steps before the program, while the start lasts.
func (r *Runner) pursue(ctx context.Context, t Task, h Host, slots chan struct{}, news *answers) {
	if !r.attempt(ctx, t, h, StepJoin, slots, news, func(ctx context.Context) error { return r.site.Peers.Join(ctx, h, t) }) {
		return
	}
	if _, err := r.Await(ctx, func(t Task) bool { return t.Life.Trial != nil && t.Life.Trial.Step == StepPrologue }); err != nil {
		return
	}
	r.attempt(ctx, t, h, StepPrologue, slots, news, func(ctx context.Context) error { return r.site.Peers.Prologue(ctx, h, t.Key) })
}

// attempt asks a sister for a step until it has answered; true says that it has done it.
func (r *Runner) attempt(ctx context.Context, t Task, h Host, step StartStep, slots chan struct{}, news *answers, do func(context.Context) error) bool {
	noted := false
	for {
		err := inSlot(ctx, slots, do)
		own, answered := errors.AsType[*pbs.Error](err)
		answered = answered && own.Code != pbs.NoQuorum
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			r.tried(ctx, news, SisterTried{Host: h.Name, Step: step, OK: true})
			return true
		case !noted:
			noted = true
			_ = r.site.startError(t, h, step.String(), err)
			r.site.Lines.Job(pbs.LogJob, t.Key.Job, fmt.Sprintf("ignoring error from %s as job is tolerant of node failures", h.Name))
			r.tried(ctx, news, SisterTried{Host: h.Name, Step: step})
		}
		if answered || !pause.For(ctx, joinAgain) || !r.Task().Assignment.keeps(h.Name) {
			return false
		}
	}
}

// inSlot bounds how many calls are under way, but for those that take long.
func inSlot(ctx context.Context, slots chan struct{}, do func(context.Context) error) error {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	slow := time.NewTimer(slotFor)
	done, freed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(freed)
		select {
		case <-slow.C:
		case <-done:
			slow.Stop()
		}
		<-slots
	}()
	err := do(ctx)
	close(done)
	<-freed
	return err
}

// Answers are what sisters have answered and the goroutine of Run has not heard yet.
type answers struct {
	mu      sync.Mutex
	pending SistersTried
}

// tried hands over how a sister did, together with those that answer just after it: each event
// is saved, and a thousand sisters answer at once.
func (r *Runner) tried(ctx context.Context, news *answers, ev SisterTried) {
	news.mu.Lock()
	news.pending = append(news.pending, ev)
	first := len(news.pending) == 1
	news.mu.Unlock()
	if !first || !pause.For(ctx, partEvery) {
		return
	}
	news.mu.Lock()
	all := news.pending
	news.pending = nil
	news.mu.Unlock()
	select {
	case r.mail <- letter{event: all}:
	case <-ctx.Done():
	}
}

// provingSisters has the sisters run the hooks before the program, when this host has some, and
// goes on without those that do not succeed in time.
func (r *Runner) provingSisters(ctx context.Context, t Task) error {
	if len(t.sisters()) == 0 || r.site.patience("execjob_prologue") == 0 {
		return nil
	}
	if err := r.Tell(ctx, Proving{}); err != nil {
		return err
	}
	longest := r.site.waitFor(StepPrologue)
	r.site.Lines.Job(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("job reliable startup job_launch_delay=%d secs", longest/time.Second))
	over, err := r.awaitSisters(ctx, StepPrologue, longest)
	if over {
		r.site.Lines.Job(pbs.LogDebug2, t.Key.Job, "not all prologue hooks to sister moms completed, but job will proceed to execute")
	}
	return err
}

// present returns the sisters that take part in the program: those that were bad when it was
// started do not, and their silence is no loss.
func (t Task) present() []Host {
	return slices.DeleteFunc(slices.Clone(t.sisters()), func(h Host) bool { return !t.Good(h.Name) })
}

// endured notes that sisters of a job are gone that goes on without them; what they have used
// counts as it was last heard.
func (r *Runner) endured(p Polled) Polled {
	gone := p.Silent
	if p.Lost != "" {
		gone = append(slices.Clip(gone), p.Lost)
	}
	for _, host := range gone {
		node := slices.IndexFunc(r.task.Hosts, func(h Host) bool { return h.Name == host })
		if _, known := r.silent[host]; known || node < 0 || !r.task.Assignment.keeps(host) {
			continue
		}
		r.silent[host] = time.Now()
		address, _ := pbs.SplitAddress(r.task.Hosts[node].Address)
		r.site.Lines.Server(pbs.LogError, "pbs_mom", fmt.Sprintf("im_eof, Premature end of message from addr %s on stream %d", address, node))
		r.site.Lines.Job(pbs.LogDebug3, r.task.Key.Job, fmt.Sprintf("ignoring lost communication with %s as job is tolerant of node failures", host))
	}
	p.Lost = ""
	return p
}
