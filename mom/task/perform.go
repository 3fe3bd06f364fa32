package task

import (
	"context"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// async runs something long; its event comes back by mail.
func (r *Runner) async(ctx context.Context, do func(context.Context, Task) Event) {
	t := r.task
	r.wg.Go(func() {
		ev := do(ctx, t)
		if ev == nil {
			return
		}
		select {
		case r.mail <- letter{event: ev}:
		case <-ctx.Done():
		}
	})
}

// begin does what belongs to the start and may run hooks, which can be stopped before the mom
// is: by halt. Hooks of one job run one at a time.
func (r *Runner) begin(ctx context.Context, do func(ctx, hooks context.Context, t Task) Event) {
	r.halt()
	hooks, halt := context.WithCancel(ctx)
	r.halt = halt
	r.async(ctx, func(ctx context.Context, t Task) Event {
		defer halt()
		r.hooking <- struct{}{}
		defer func() { <-r.hooking }()
		return do(ctx, hooks, t)
	})
}

// finish does what belongs to the end and may run hooks; what is left of the start is stopped.
func (r *Runner) finish(ctx context.Context, do func(context.Context, Task) Event) {
	r.halt()
	r.stopHooks()
	r.async(ctx, func(ctx context.Context, t Task) Event {
		r.hooking <- struct{}{}
		defer func() { <-r.hooking }()
		r.saving <- struct{}{} // a script that was stopped has ended
		defer func() { <-r.saving }()
		return do(ctx, t)
	})
}

// stageIn can be stopped before the mom is: by halt.
func (r *Runner) stageIn(ctx context.Context) {
	r.haltable(ctx, func(staging context.Context, t Task) Event { return r.site.staging().in(staging, t) })
}

// haltable does what halt stops. The event of what was stopped so counts, unless the mom stops.
func (r *Runner) haltable(ctx context.Context, do func(ctx context.Context, t Task) Event) {
	r.halt()
	stoppable, halt := context.WithCancel(ctx)
	r.halt = halt
	r.async(ctx, func(ctx context.Context, t Task) Event {
		defer halt()
		return unless(ctx, do(stoppable, t))
	})
}

// unless returns no event when the mom goes away: the next one does the deed again.
func unless(ctx context.Context, ev Event) Event {
	if ctx.Err() != nil {
		return nil
	}
	return ev
}

// perform does what an action says.
func (r *Runner) perform(ctx context.Context, a Action) { deeds[a.Do](r, ctx, a) }

// now handles an event that follows without waiting.
func (r *Runner) now(ctx context.Context, ev Event) { r.open(ctx, letter{event: ev}) }

func (r *Runner) fact(ctx context.Context, a Action, f spool.Fact, done Event) {
	if err := r.site.Spool.Append(f); err != nil {
		r.site.Logger.Error("fact not saved", "task", r.task.Key.String(), "err", err)
		r.hindered(nil, err)
		r.later(alarm{at: time.Now().Add(again), action: &a})
		return
	}
	if f.Ended != nil {
		r.site.Lines.Job(pbs.LogDebug2, r.task.Key.Job, "Obit sent")
	}
	r.now(ctx, done)
}

// send sends a signal to all processes of the job: those of this host, and, at a mother
// superior, those of its sisters. One for a program goes to that one only.
func (r *Runner) send(ctx context.Context, a Action) {
	sig := a.Signal
	if a.Program != 0 {
		p, _ := r.task.Programs.Of(a.Program)
		r.signal(p.Handle, sig)
		return
	}
	if r.hookBefore(ctx, a.Text) {
		return
	}
	if sig == syscall.SIGTERM || sig == syscall.SIGKILL {
		r.site.Lines.Job(pbs.LogJob, r.task.Key.Job, "kill_job")
	}
	if a.Ends && r.endByScript(ctx) {
		return
	}
	for _, h := range r.task.handles() {
		r.signal(h, r.site.Settings().ofSuspension(sig, a.Text))
	}
	if (mother{r.task}).passesOn() {
		r.passing.pass(ctx, r, sig, a.Text)
	}
	r.hookAfter(ctx, a.Text)
}

func (r *Runner) signal(h proc.Handle, sig syscall.Signal) {
	if err := r.site.System.Signal(h, sig); err != nil {
		r.site.Logger.Error("signal not sent", "task", r.task.Key.String(), "signal", sig, "err", err)
	}
}

// note tells of an exceeded limit in the log, and to the owner of the job.
func (r *Runner) note(words string) {
	r.site.Lines.Job(pbs.LogJob, r.task.Key.Job, words)
	if err := r.site.output().note(r.task, "=>> PBS: job killed: "+words); err != nil {
		r.site.Logger.Warn("note not written", "task", r.task.Key.String(), "err", err)
	}
}

func (r *Runner) drop(ctx context.Context, a Action) {
	if err := r.site.Spool.Drop(r.task.Key); err != nil {
		r.site.Logger.Error("task not dropped", "task", r.task.Key.String(), "err", err)
		r.later(alarm{at: time.Now().Add(again), action: &a})
		return
	}
	r.task.Version = 0
}
