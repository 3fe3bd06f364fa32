package task

import (
	"context"
	"errors"
	"syscall"
)

// isSuspension tells a suspension from a plain SIGSTOP, of which the servers know nothing.
func isSuspension(name string) bool {
	switch name {
	case "suspend", "resume", "admin-suspend", "admin-resume":
		return true
	}
	return false
}

// Proceed says that the hooks before a resumption have run.
type Proceed struct{}

func (Proceed) event() {}

// The words for a signal that is more than one: the processes are suspended, stay so, are to go on
// when hooks have run, or go on. Hooks belong to the first and the third.
const (
	suspends  = "suspend"
	suspended = "suspended"
	resumes   = "resume"
	resumed   = "resumed"
)

// ofSuspension returns the site's signal in place of one that belongs to a suspension.
func (s Settings) ofSuspension(sig syscall.Signal, text string) syscall.Signal {
	switch {
	case (text == suspends || text == suspended) && s.Suspend != 0:
		return s.Suspend
	case (text == resumes || text == resumed) && s.Resume != 0:
		return s.Resume
	}
	return sig
}

// suspension returns the word for a signal, "" for a plain one.
func suspension(name string) string {
	switch sig, _ := ParseSignal(name); {
	case !isSuspension(name):
		return ""
	case sig == syscall.SIGSTOP:
		return suspends
	}
	return resumes
}

// proceed sends the signal that hooks were run before, unless the job was suspended again.
func (t Task) proceed() (Task, []Action, error) {
	if t.State() != Running && t.State() != Ending {
		return t, nil, nil
	}
	next, ok := t.Suspension.step(hooksRunWord, 0)
	if !ok {
		return t, nil, nil
	}
	t.Suspension = next
	return t, next.again(), nil
}

// haltAgain brings the suspension of a run about that does not end.
func (t Task) haltAgain() []Action {
	if t.State() != Running {
		return nil
	}
	return t.Suspension.again()
}

// hookBefore runs the hooks before a resumption, and then sends the signal; false: there are none. If they refuse, the servers were
// told before it is known here, and suspend the job again, whose processes still stand.
func (r *Runner) hookBefore(ctx context.Context, word string) bool {
	if word != resumes || r.site.patience("execjob_preresume") == 0 {
		return false
	}
	r.async(ctx, func(ctx context.Context, t Task) Event {
		if errors.Is(r.noteHooks(ctx, t, "execjob_preresume"), ErrHook) {
			return nil
		}
		return unless(ctx, Proceed{})
	})
	return true
}

// hookAfter runs the hooks after a suspension.
func (r *Runner) hookAfter(ctx context.Context, word string) {
	if word != suspends || r.site.patience("execjob_postsuspend") == 0 {
		return
	}
	r.async(ctx, func(ctx context.Context, t Task) Event {
		_ = r.noteHooks(ctx, t, "execjob_postsuspend")
		return nil
	})
}

func (r *Runner) noteHooks(ctx context.Context, t Task, event string) error {
	err := r.site.Hooks.At(ctx, event, t, 0)
	if err != nil && ctx.Err() == nil {
		r.site.Logger.Warn("hooks of a suspension", "task", t.Key.String(), "event", event, "err", err)
	}
	return err
}
