package task

import (
	"context"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// The events of a sister's end.
type (
	// Dismiss ends a sister's part: the run goes on without its host.
	Dismiss struct{}
	// Reported says that the mother superior has what a dismissed part has used, or does not come for
	// it.
	Reported struct{}
	// Removed says that nothing of the run is left on the host, or that the removal hangs.
	Removed struct{ Hangs bool }
)

func (Dismiss) event()  {}
func (Reported) event() {}
func (Removed) event()  {}

// The deeds of a sister's end.
const (
	AwaitReport Deed = "wait for the mother superior"
	Remove      Deed = "remove the files"
)

const (
	hearFor   = 10 * time.Second // the mother superior comes for what a dismissed part has used, or does not
	removeFor = 10 * time.Second // bounds the wait for files that may be on a file system that hangs
)

// Reckoned reports whether what a part has used is final but for what its last hooks set.
func (t Task) Reckoned() bool {
	return t.State() == Ended || t.Part.Stage > PartEpilogue
}

// EndEvents returns the events of hooks of a run that is over; they differ where the start has
// failed (specification: ramp-down section 17). A sister has some at each stage of its end.
func (t Task) EndEvents() []string {
	switch {
	case t.Part.Why.Has(Abandoned):
		return []string{"execjob_abort"}
	case t.Sister() && t.Part.Stage <= PartEpilogue:
		return []string{"execjob_epilogue"}
	case t.Sister():
		return []string{"execjob_end"}
	case t.Result != nil && t.Result.NeverStarted:
		return []string{"execjob_abort", "execjob_epilogue", "execjob_end"}
	}
	return []string{"execjob_epilogue", "execjob_end"}
}

// LastEvents reports whether no hooks of the run come after those of EndEvents.
func (t Task) LastEvents() bool { return !t.Sister() || t.Part.lastHooks() }

func (t sister) dismiss() (Task, []Action, error) {
	if t.Over() {
		return t.Task, nil, nil
	}
	t.Part.Why |= Dismissed
	return t.leave(spool.Ended{ExitStatus: pbs.ExitKilled})
}

// received returns what the log of a sister says when its part is ended by others; empty: nothing. It is
// written when the record has it, and so at most once: a mom that dies in between leaves none.
func received(before, after Task, ev Event) string {
	if before.Result != nil || after.Result == nil || !after.Sister() {
		return ""
	}
	switch ev := ev.(type) {
	case Dismiss:
		return "DELETE_JOB2 received"
	case Abandon:
		return "KILL_JOB received"
	case Kill:
		switch {
		case ev.Left: // the servers were faster than the mother superior
			return "DELETE_JOB2 received"
		case ev.Mother:
			return "KILL_JOB received"
		}
	}
	return ""
}

// leave ends a sister's part: with its last program it is over.
func (t sister) leave(result spool.Ended) (Task, []Action, error) {
	if t.Result == nil {
		t.Result = &result
	}
	if t.Programs.live() {
		t.Part, _ = t.Part.step(endPartWord)
		return t.Task, []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}, nil
	}
	return t.left()
}

// left goes on with what follows the last program: hooks, where the host had joined.
func (t sister) left() (Task, []Action, error) {
	if t.Result.NeverStarted {
		if part, ok := t.Part.step(neverPartWord); ok {
			next, actions, err := t.over(part)
			return next, append(actions, Action{Do: Clean}), err
		}
	}
	t.Part, _ = t.Part.step(noProgramsWord)
	return t.Task, t.Part.deeds(), nil
}

// concluded notes what hooks of the end have set.
func (t sister) concluded(ev Delivered) (Task, []Action, error) {
	part, ok := t.Part.concluded()
	if !ok {
		return t.Task, nil, nil
	}
	t.Part, t.HookUsed = part, overlaid(t.HookUsed, ev.Used)
	return t.Task, part.deeds(), nil
}

// reported lets a part go on that waits for its mother superior.
func (t sister) reported() (Task, []Action, error) {
	part, ok := t.Part.step(reportedWord)
	if !ok {
		return t.Task, nil, nil
	}
	t.Part = part
	return t.Task, part.deeds(), nil
}

func (t sister) removed(ev Removed) (Task, []Action, error) {
	on := removedWord
	if ev.Hangs {
		on = hangsWord
	}
	if part, ok := t.Part.step(on); ok {
		return t.over(part)
	}
	return t.Task, nil, nil
}

// resumeOver tells the end of a part that is over, if that was not told yet, and removes what an earlier
// mom has not.
func (t sister) resumeOver() (Task, []Action, error) {
	var actions []Action
	if !t.Reports.Told() {
		actions = append(actions, Action{Do: Report})
	}
	if t.Part.Stage != PartClean {
		actions = append(actions, Action{Do: Clean})
	}
	return t.Task, actions, nil
}

// over ends a part of which nothing is left: only then do others hear so.
func (t sister) over(part Part) (Task, []Action, error) {
	result := *t.Result
	result.Used = t.Used()
	t.Part, t.Result = part, &result
	return t.Task, []Action{{Do: Report}}, nil
}

// removeAll removes what the run has left on the host. It does not wait for ever: what hangs goes on
// behind it, and the job's next run here waits for it.
func (s *Site) removeAll(ctx context.Context, t Task) Event {
	select {
	case <-s.folders().clean(ctx, t):
		return Removed{}
	case <-time.After(removeFor):
		s.Logger.Warn("folders of the job are still being removed", "job", t.Key.Job)
		return Removed{Hangs: true}
	case <-ctx.Done():
		return nil
	}
}
