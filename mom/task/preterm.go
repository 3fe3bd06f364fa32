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
func (t mother) preterm(k Kill) (next Task, actions []Action, waits bool) {
	switch {
	case !t.killable() || k.Requeue || k.Delay <= 0 || t.Life.forced():
		return t.Task, nil, false
	case !t.Life.Kill.asked() && !k.Hooks:
		return t.Task, nil, false
	case !t.Life.Kill.asked():
		actions = []Action{{Do: AskPreterm}}
	}
	t.Life.Kill = t.Life.Kill.step(askHooksWord)
	t.Life.Kill.Killing = k.Killing
	return t.Task, actions, true
}

// pretermOver ends the job, or lets it run on as if nobody had wished for its end.
func (t mother) pretermOver(ev PretermOver) (Task, []Action, error) {
	if !t.Life.Kill.asked() {
		return t.Task, nil, nil
	}
	on := agreedWord
	if ev.Refused && t.killable() {
		on = refusedWord
	}
	t.Life.Kill = t.Life.Kill.step(on)
	switch {
	case on == refusedWord:
		return t.Task, t.haltAgain(), nil // a resumption that hooks refused meanwhile was not heard by the servers
	case !t.killable():
		return t.Task, nil, nil
	case t.State() != Running:
		return t.kill(Kill{Killing: t.Life.Kill.Killing})
	}
	t.Task = t.to(endItWord)
	return t.Task, t.terminate(), nil
}

// killable reports whether hooks can still refuse the end: the program runs, or is about to.
func (t mother) killable() bool {
	return t.State() == Accepted || t.State() == Joining || t.State() == Starting || t.State() == Running
}

// askAgain has the hooks asked after a restart of the mom.
func (t mother) askAgain() []Action {
	if t.Life.Kill.asked() && t.killable() {
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
	k.Hooks = !r.task.Sister() && r.site.Hooks != nil && r.site.Hooks.Terminates()
	return k
}
