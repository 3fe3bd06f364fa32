package task

import (
	"context"
	"errors"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// The events of hooks at sisters.
type (
	// Prologue asks a sister to run the hooks before the program.
	Prologue struct{}
	// PrologueOver says how it went; Failure is empty when they have accepted.
	PrologueOver struct {
		Used    []spool.Used
		Failure string
	}
	// Abandon ends a sister's part because the start failed.
	Abandon struct{}
)

func (Prologue) event()     {}
func (PrologueOver) event() {}
func (Abandon) event()      {}

// The deeds of hooks at sisters.
const (
	RunPrologue Deed = "run the hooks before the program"
	Conclude    Deed = "run the hooks of the end"
)

// prologue has the hooks run once: a repeat hears what came of it.
func (t sister) prologue() (Task, []Action, error) {
	part, ok := t.Part.asksPrologue()
	switch {
	case !ok:
		return t.Task, nil, nil
	case t.State() != Running:
		return t.Task, nil, t.refused("prologue")
	}
	t.Part = part
	return t.Task, []Action{{Do: RunPrologue}}, nil
}

func (t sister) prologueOver(ev PrologueOver) (Task, []Action, error) {
	part, ok := t.Part.prologueOver(ev.Failure)
	if !ok {
		return t.Task, nil, nil
	}
	t.Part = part
	if t.State() == Running {
		t.HookUsed = overlaid(t.HookUsed, ev.Used)
	}
	return t.Task, nil, nil
}

// runPrologue runs a sister's hooks before the program.
func (s *Site) runPrologue(ctx, hooks context.Context, t Task) Event {
	if s.Hooks == nil {
		return PrologueOver{}
	}
	used, err := s.Hooks.Prologue(hooks, t)
	ev := PrologueOver{Used: used}
	if err != nil {
		ev = PrologueOver{Failure: err.Error()}
	}
	return unless(ctx, ev)
}

// prologues has the sisters run the hooks before the program, when this host has some.
func (s *Site) prologues(ctx context.Context, t Task) error {
	patience := s.Hooks.Patience("execjob_prologue")
	if len(t.sisters()) == 0 || patience == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), prologueFor+patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(answersFor, cancel) })()
	errs := each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		err := s.insist(ctx, func(ctx context.Context) error { return s.Peers.Prologue(ctx, h, t.Key) })
		if err != nil && !errors.Is(err, context.Canceled) {
			cancel() // the start has failed: nobody waits for the others
		}
		return err
	})
	var failed error
	for i, err := range errs {
		own, refused := errors.AsType[*pbs.Error](err)
		if refused && own.Code != pbs.NoQuorum || ctx.Err() == nil && err != nil && !errors.Is(err, context.Canceled) {
			failed = errors.Join(failed, s.startError(t, t.sisters()[i], "IM_EXEC_PROLOGUE", err))
		}
	}
	return errors.Join(ctx.Err(), failed)
}

const (
	// prologueFor bounds the wait for the sisters' hooks, besides their alarms.
	prologueFor = 15 * time.Second
	// answersFor bounds the wait for sisters once the start is given up: a hook that refuses there may have the job deleted,
	// and that order must not come before the reason.
	answersFor = time.Second
)
