package task

import (
	"context"
	"errors"
)

// AskPreterm is the deed before the processes of a job that is to be deleted are told to end.
const AskPreterm Deed = "run the hooks before the termination"

// PretermOver says that the hooks of execjob_preterm have run, and whether they refuse the end.
type PretermOver struct{ Refused bool }

func (PretermOver) event() {}

// preterm has the hooks asked before the end at somebody's wish, once; false: it does not wait for
// them. What is forced, and what ends a run that is to be repeated, waits for nobody.
func (t Task) preterm(k Kill) (Task, []Action, bool) {
	switch {
	case !t.killable() || k.Requeue || k.Delay <= 0 || t.Aborted || t.Fenced:
		return t, nil, false
	case t.Preterm:
		t.Kill = &k.Killing
		return t, nil, true
	case !k.Hooks:
		return t, nil, false
	}
	t.Kill, t.Preterm = &k.Killing, true
	return t, []Action{{Do: AskPreterm}}, true
}

// pretermOver ends the job, or lets it run on as if nobody had wished for its end.
func (t Task) pretermOver(ev PretermOver) (Task, []Action, error) {
	if !t.Preterm {
		return t, nil, nil
	}
	t.Preterm = false
	switch {
	case !t.killable():
		return t, nil, nil
	case ev.Refused:
		t.Kill = nil
		return t, nil, nil
	case t.State != Running:
		return t.kill(Kill{Killing: *t.Kill})
	}
	t.State = Ending
	return t, t.terminate(), nil
}

// killable tells whether hooks can still refuse the end: the program runs, or is about to.
func (t Task) killable() bool {
	return t.State == Accepted || t.State == Joining || t.State == Starting || t.State == Running
}

// doomed tells whether somebody's wish for the end is to be followed: hooks are not looking at it.
func (t Task) doomed() bool { return t.Kill != nil && !t.Preterm }

// askAgain has the hooks asked after a restart of the mom.
func (t Task) askAgain() []Action {
	if t.Preterm && t.killable() {
		return []Action{{Do: AskPreterm}}
	}
	return nil
}

func (r *Runner) askPreterm(ctx context.Context) {
	if r.site.Hooks == nil {
		r.now(ctx, PretermOver{})
		return
	}
	r.async(ctx, func(ctx context.Context, t Task) Event {
		err := r.site.Hooks.Terminating(ctx, t)
		return unless(ctx, PretermOver{Refused: errors.Is(err, ErrHook)})
	})
}

// pretermed tells a wish for the end whether there are hooks to ask first.
func (r *Runner) pretermed(k Kill) Kill {
	k.Hooks = !r.task.Sister && r.site.Hooks != nil && r.site.Hooks.Terminates()
	return k
}
