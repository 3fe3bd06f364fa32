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

// waitFor returns the longest wait at a step of the start (specification: reliable-startup
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

// A tolerantStart is the start of a run that goes on without sisters that fail.
type tolerantStart struct {
	r     *Runner
	slots chan struct{} // of the calls under way

	mu      sync.Mutex
	pending SistersTried // what sisters have answered and the goroutine of Run has not heard yet
}

// join has the sisters join, and goes on without those that do not in time. They are
// asked for as long as the start lasts.
func (s *tolerantStart) join(ctx, hooks context.Context, t Task) Event {
	r := s.r
	used, err := r.site.begun(hooks, t)
	if err != nil {
		return unless(ctx, JoinFailed{Reason: err.Error(), Code: hookCode(err), Fault: r.site.fault(err)})
	}
	s.slots = make(chan struct{}, peersAtOnce)
	start, cancel := context.WithCancel(ctx)
	r.wg.Go(func() {
		defer cancel()
		_, _ = r.Await(start, func(t Task) bool { return !t.State().starting() })
	})
	for _, h := range t.sisters() {
		r.wg.Go(func() { s.pursue(start, t, h) })
	}
	longest := r.site.waitFor(StepJoin)
	over, err := s.await(hooks, StepJoin, longest)
	if err != nil {
		return nil // it was killed, or the mom goes away
	}
	if over {
		r.site.Lines.Job(pbs.LogAdmin, t.Key.Job, fmt.Sprintf("sister_join_job_alarm wait time %d secs exceeded", longest/time.Second))
	}
	return Joined{Used: used}
}

// await waits until all sisters have done a step, or for the longest time; over says
// that they have not.
func (s *tolerantStart) await(ctx context.Context, step StartStep, longest time.Duration) (over bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	early := s.r.site.Settings().LaunchEarly
	_, err = s.r.Await(bounded, func(t Task) bool {
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
func (s *tolerantStart) pursue(ctx context.Context, t Task, h Host) {
	peers := s.r.site.Peers
	if !s.attempt(ctx, t, h, StepJoin, func(ctx context.Context) error { return peers.Join(ctx, h, t) }) {
		return
	}
	if _, err := s.r.Await(ctx, func(t Task) bool { return t.Life.Trial != nil && t.Life.Trial.Step == StepPrologue }); err != nil {
		return
	}
	s.attempt(ctx, t, h, StepPrologue, func(ctx context.Context) error { return peers.Prologue(ctx, h, t.Key) })
}

// attempt asks a sister for a step until it has answered; true says that it has done it.
func (s *tolerantStart) attempt(ctx context.Context, t Task, h Host, step StartStep, do func(context.Context) error) bool {
	site, noted := s.r.site, false
	for {
		err := inSlot(ctx, s.slots, do)
		own, answered := errors.AsType[*pbs.Error](err)
		answered = answered && own.Code != pbs.NoQuorum
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			s.tried(ctx, SisterTried{Host: h.Name, Step: step, OK: true})
			return true
		case !noted:
			noted = true
			_ = site.startError(t, h, step.String(), err)
			site.Lines.Job(pbs.LogJob, t.Key.Job, fmt.Sprintf("ignoring error from %s as job is tolerant of node failures", h.Name))
			s.tried(ctx, SisterTried{Host: h.Name, Step: step})
		}
		if answered || !pause.For(ctx, joinAgain) || !s.r.Task().Assignment.keeps(h.Name) {
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

// tried hands over how a sister did, together with those that answer just after it: each event
// is saved, and a thousand sisters answer at once.
func (s *tolerantStart) tried(ctx context.Context, ev SisterTried) {
	s.mu.Lock()
	s.pending = append(s.pending, ev)
	first := len(s.pending) == 1
	s.mu.Unlock()
	if !first || !pause.For(ctx, partEvery) {
		return
	}
	s.mu.Lock()
	all := s.pending
	s.pending = nil
	s.mu.Unlock()
	select {
	case s.r.mail <- letter{event: all}:
	case <-ctx.Done():
	}
}

// prove has the sisters run the hooks before the program, when this host has some, and
// goes on without those that do not succeed in time.
func (s *tolerantStart) prove(ctx context.Context, t Task) error {
	r := s.r
	if len(t.sisters()) == 0 || r.site.patience("execjob_prologue") == 0 {
		return nil
	}
	if err := r.Tell(ctx, Proving{}); err != nil {
		return err
	}
	longest := r.site.waitFor(StepPrologue)
	r.site.Lines.Job(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("job reliable startup job_launch_delay=%d secs", longest/time.Second))
	over, err := s.await(ctx, StepPrologue, longest)
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
func (q *quiet) endured(t Task, p Polled) Polled {
	gone := p.Silent
	if p.Lost != "" {
		gone = append(slices.Clip(gone), p.Lost)
	}
	for _, host := range gone {
		node := slices.IndexFunc(t.Hosts, func(h Host) bool { return h.Name == host })
		if _, known := q.since[host]; known || node < 0 || !t.Assignment.keeps(host) {
			continue
		}
		q.since[host] = time.Now()
		address, _ := pbs.SplitAddress(t.Hosts[node].Address)
		q.site.Lines.Server(pbs.LogError, "pbs_mom", fmt.Sprintf("im_eof, Premature end of message from addr %s on stream %d", address, node))
		q.site.Lines.Job(pbs.LogDebug3, t.Key.Job, fmt.Sprintf("ignoring lost communication with %s as job is tolerant of node failures", host))
	}
	p.Lost = ""
	return p
}
