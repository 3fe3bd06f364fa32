package task

import (
	"context"
	"slices"
	"time"
)

// A doer does one kind of deed. It waits for nothing: what takes long comes back as an event.
type doer func(r *Runner, ctx context.Context, a Action)

// deeds says how each deed is done. A runner's events lead to deeds and these to events, so it is filled later.
var deeds map[Deed]doer

func init() {
	deeds = map[Deed]doer{
		// The start.
		Fetch:   begins((*Site).fetch),
		Confirm: begins((*Site).confirm),
		StageIn: plainly((*Runner).stageIn),
		Join:    plainly((*Runner).join),
		Launch:  func(r *Runner, ctx context.Context, _ Action) { r.begin(ctx, r.launch) },
		Recover: apart((*Site).recover),
		Halt:    func(r *Runner, _ context.Context, _ Action) { r.halt() },

		// While it runs.
		Watch: func(r *Runner, ctx context.Context, _ Action) {
			r.checkWall(ctx)
			r.checkSnap(ctx)
			r.async(ctx, r.site.watch)
		},
		Poll:           apart((*Site).poll),
		Send:           (*Runner).send,
		Grace:          (*Runner).grace,
		Note:           func(r *Runner, _ context.Context, a Action) { r.note(a.Text) },
		AskPreterm:     plainly((*Runner).askPreterm),
		StartProgram:   ofProgram((*Site).startProgram),
		RecoverProgram: ofProgram((*Site).recoverProgram),
		WatchProgram:   ofProgram((*Site).watchProgram),

		// Another assignment.
		TellSisters: func(r *Runner, ctx context.Context, _ Action) { r.notices.part(ctx) },
		Resize:      plainly((*Runner).resize),
		Renode:      (*Runner).renode,

		// Checkpoints.
		Save:     plainly((*Runner).save),
		Snapshot: plainly((*Runner).snapshot),
		savePart: plainly((*Runner).savePart),
		Keep:     plainly((*Runner).keep),

		// A sister's part.
		RunPrologue: begins((*Site).runPrologue),
		Conclude:    plainly((*Runner).conclude),
		AwaitReport: func(r *Runner, _ context.Context, a Action) {
			r.later(alarm{at: time.Now().Add(a.After), event: Reported{}})
		},
		Remove: apart((*Site).removeAll),

		// The end.
		KillSisters: apart((*Site).killSisters),
		Gather:      plainly((*Runner).gather),
		Bar:         plainly((*Runner).bar),
		StageOut:    plainly((*Runner).stageOut),
		Deliver:     plainly((*Runner).deliver),
		Discard:     plainly((*Runner).discard),
		Clean:       func(r *Runner, ctx context.Context, _ Action) { r.site.folders().clean(ctx, r.task) },
		Drop:        (*Runner).drop,

		// Facts.
		Announce: func(r *Runner, ctx context.Context, a Action) { r.fact(ctx, a, r.task.startedFact(), Announced{}) },
		TellMade: func(r *Runner, ctx context.Context, a Action) { r.fact(ctx, a, r.task.madeFact(), MadeTold{}) },
		Unsaved:  func(r *Runner, ctx context.Context, a Action) { r.fact(ctx, a, r.task.unsavedFact(), UnsavedTold{}) },
		Report:   func(r *Runner, ctx context.Context, a Action) { r.fact(ctx, a, r.task.endedFact(), Told{}) },
	}
}

// plainly returns a deed that needs no more than its name.
func plainly(do func(*Runner, context.Context)) doer {
	return func(r *Runner, ctx context.Context, _ Action) { do(r, ctx) }
}

// begins returns a deed of the start that may run hooks.
func begins(do func(s *Site, ctx, hooks context.Context, t Task) Event) doer {
	return func(r *Runner, ctx context.Context, _ Action) {
		r.begin(ctx, func(ctx, hooks context.Context, t Task) Event { return do(r.site, ctx, hooks, t) })
	}
}

// apart returns a deed that goes on beside the task.
func apart(do func(*Site, context.Context, Task) Event) doer {
	return func(r *Runner, ctx context.Context, _ Action) {
		r.async(ctx, func(ctx context.Context, t Task) Event { return do(r.site, ctx, t) })
	}
}

// ofProgram is such a deed for one of the job's programs.
func ofProgram(do func(*Site, context.Context, Task, uint32) Event) doer {
	return func(r *Runner, ctx context.Context, a Action) {
		r.async(ctx, func(ctx context.Context, t Task) Event { return do(r.site, ctx, t, a.Program) })
	}
}

// join asks the sisters, in the way that tolerates failures if the run is on trial.
func (r *Runner) join(ctx context.Context) {
	if r.task.Life.OnTrial() {
		r.begin(ctx, (&tolerantStart{r: r}).join)
		return
	}
	r.begin(ctx, r.site.join)
}

// grace replaces the one before.
func (r *Runner) grace(_ context.Context, a Action) {
	if a.Ends && r.ender.Load() {
		return // it begins when the script has ended
	}
	r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool { _, is := a.event.(GraceOver); return is })
	r.later(alarm{at: time.Now().Add(a.After), event: GraceOver{}})
}

func (r *Runner) renode(_ context.Context, a Action) {
	if err := r.site.renode(r.task); err != nil {
		r.site.Logger.Error("node file not written", "task", r.task.Key.String(), "err", err)
		r.later(alarm{at: time.Now().Add(again), action: &a})
	}
}

func (r *Runner) gather(ctx context.Context) {
	r.halt() // nobody waits for the start any more
	r.async(ctx, func(ctx context.Context, t Task) Event {
		r.saving <- struct{}{} // a script that was stopped has ended: which checkpoint counts is sure
		defer func() { <-r.saving }()
		return r.site.gather(ctx, t)
	})
}

func (r *Runner) bar(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event { return r.site.after(ctx, t, r.site.bar) })
}
