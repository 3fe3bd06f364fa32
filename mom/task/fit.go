package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// fitFor bounds the wait for the sisters that stay to take a pruned assignment (specification:
// reliable-startup section 9.4).
const fitFor = 5 * time.Second

// Fitted says that the hooks of a new assignment have run; Refusal is empty if they have accepted.
type Fitted struct {
	Number  uint64 // of the order
	Refusal string
}

func (Fitted) event() {}

// Behind reports whether a sister of a job that tolerates failures knows less of the assignment than
// whoever asks it for a program: the numbers of nodes are not the same (specification:
// reliable-startup section 9.6).
func (t Task) Behind(number uint64) bool {
	return t.Sister() && t.Tolerates() && t.Assignment.Number < number
}

// tellable reports whether a sister may be told what became of its part: that it is over, or, when
// nothing of it can be withdrawn, its assignment. Before the program the hooks here see that first.
func (t mother) tellable(host pbs.HostName) bool {
	if t.Assignment.leaving(host) {
		return true
	}
	before := t.State().unstarted() || t.Result != nil && t.Result.NeverStarted
	return t.Assignment.Former == nil && (t.Assignment.Fits(t.Assignment.Number) || !before)
}

// resize lets hooks see the new assignment of a job that runs. They end with the run.
func (r *Runner) resize(ctx context.Context) {
	stoppable, stop := context.WithCancel(ctx)
	r.stopHooks = stop
	r.async(ctx, func(ctx context.Context, t Task) Event {
		defer stop()
		r.hooking <- struct{}{}
		defer func() { <-r.hooking }()
		return r.site.resize(ctx, stoppable, t)
	})
}

// resize runs the hooks of a new assignment. What a sister has to say of it, its mother superior
// hears; of a program that runs nobody takes anything back.
func (s *Site) resize(ctx, stoppable context.Context, t Task) Event {
	var err error
	if s.Hooks != nil {
		err = s.Hooks.Resizing(stoppable, t)
	}
	switch {
	case stoppable.Err() != nil:
		return nil
	case !t.Sister():
		if err != nil {
			s.resizeRejected(t)
		}
		return nil
	case err != nil:
		text := hookText(err)
		s.Lines.Job(pbs.LogError, t.Key.Job, "execjob_resize hook rejected request: "+text)
		return unless(ctx, Fitted{Number: t.Assignment.Number, Refusal: text})
	}
	s.Lines.Job(pbs.LogJob, t.Key.Job, "updated nodes info")
	return unless(ctx, Fitted{Number: t.Assignment.Number})
}

// hookText returns what a hook that has refused has said.
func hookText(err error) string { return strings.TrimSuffix(err.Error(), ": "+ErrHook.Error()) }

func (s *Site) resizeRejected(t Task) {
	s.Lines.Job(pbs.LogError, t.Key.Job, "execjob_resize hook rejected request")
}

// fit lets hooks here, and then the sisters that stay, see the assignment to which a start was
// pruned. A rejection ends the start; a sister that does not answer in time catches up later.
func (r *Runner) fit(ctx context.Context) error {
	t, err := r.Await(ctx, func(t Task) bool { return t.Assignment.Former == nil })
	if err != nil || t.Assignment.Number == 0 {
		return err
	}
	s := r.site
	if !t.Assignment.Fits(t.Assignment.Number) {
		if err := s.Hooks.Resizing(ctx, t); err != nil {
			if ctx.Err() == nil {
				s.resizeRejected(t)
			}
			return err
		}
		if err := r.Tell(ctx, Fitted{Number: t.Assignment.Number}); err != nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, fitFor)
	defer cancel()
	_, err = r.Await(bounded, func(t Task) bool { return !t.Assignment.untold() || r.notices.refusal() != nil })
	switch {
	case r.notices.refusal() != nil:
		return r.notices.refusal()
	case err == nil:
		return nil
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		s.Lines.Job(pbs.LogDebug2, t.Key.Job, "NOT all job updates to sister moms completed")
		return nil
	}
	return err
}

// updateRefused decides what follows from a sister's refusal of its assignment: before the program that of
// its hooks ends the start, and one that may still take part is asked again. Else its part is over: the
// next poll tells.
func (e *notices) updateRefused(ctx context.Context, h Host, refusal *pbs.Error) (again, ends bool) {
	switch now := e.r.Task(); {
	case now.State().unstarted() && refusal.Code == pbs.HookError:
		e.refuse(fmt.Errorf("sister node %s failed to update job: %w", h.Name, refusal))
		select {
		case e.r.mail <- letter{event: SistersTold{}}: // wakes who waits for the sisters
		case <-ctx.Done():
		}
		return false, true
	default:
		return now.State().unstarted() && !now.Good(h.Name), false
	}
}

// refuse notes that a sister has refused the assignment before the program.
func (e *notices) refuse(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = err
}

func (e *notices) refusal() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused
}

// recount makes what a program is told of its cpus that of its present assignment, where hooks have
// not said another.
func recount(spec *proc.Spec, before, now Task) {
	cpus, threads := before.threads()
	newCPUs, newThreads := now.threads()
	for i, v := range spec.Env {
		switch v {
		case "NCPUS=" + cpus:
			spec.Env[i] = "NCPUS=" + newCPUs
		case "OMP_NUM_THREADS=" + threads:
			spec.Env[i] = "OMP_NUM_THREADS=" + newThreads
		}
	}
}
