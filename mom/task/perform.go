package task

import (
	"context"
	"slices"
	"syscall"
	"time"

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
	r.unfit()
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
	r.haltable(ctx, func(staging context.Context, t Task) Event { return r.site.stageIn(staging, t) })
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

func (r *Runner) perform(ctx context.Context, a Action) {
	switch a.Do {
	case Fetch:
		r.begin(ctx, r.site.fetch)
	case Confirm:
		r.begin(ctx, r.site.confirm)
	case Launch:
		r.begin(ctx, r.launch)
	case RunPrologue:
		r.begin(ctx, r.site.runPrologue)
	case Conclude:
		r.conclude(ctx)
	case AwaitReport:
		r.later(alarm{at: time.Now().Add(a.After), event: Reported{}})
	case Remove:
		r.async(ctx, r.site.removeAll)
	case Recover:
		r.async(ctx, r.site.recover)
	case Watch:
		r.checkWall(ctx)
		r.checkSnap(ctx)
		r.async(ctx, r.site.watch)
	case StageIn:
		r.stageIn(ctx)
	case Halt:
		r.halt()
	case StageOut:
		r.stageOut(ctx)
	case Deliver:
		r.deliver(ctx)
	case Bar:
		r.finish(ctx, func(ctx context.Context, t Task) Event { return r.site.after(ctx, t, r.site.bar) })
	case Save:
		r.save(ctx)
	case Keep:
		r.keep(ctx)
	case Snapshot:
		r.snapshot(ctx)
	case savePart:
		r.savePart(ctx)
	case TellMade:
		r.fact(ctx, a, r.task.madeFact(), MadeTold{})
	case Unsaved:
		r.fact(ctx, a, r.task.unsavedFact(), UnsavedTold{})
	case Discard:
		r.discard(ctx)
	case Announce:
		r.fact(ctx, a, r.task.startedFact(), Announced{})
	case Report:
		r.fact(ctx, a, r.task.endedFact(), Told{})
	case Grace:
		r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool { _, is := a.event.(GraceOver); return is })
		r.later(alarm{at: time.Now().Add(a.After), event: GraceOver{}})
	case AskPreterm:
		r.askPreterm(ctx)
	case Send:
		r.send(ctx, a)
	case Note:
		r.note(a.Text)
	case Join:
		if r.task.Life.Trial != nil {
			r.begin(ctx, r.joinTolerant)
			return
		}
		r.begin(ctx, r.site.join)
	case Poll:
		r.async(ctx, r.site.poll)
	case Hush:
		r.async(ctx, r.site.hush)
	case TellSisters:
		r.part(ctx)
	case Resize:
		r.resize(ctx)
	case Renode:
		if err := r.site.renode(r.task); err != nil {
			r.site.Logger.Error("node file not written", "task", r.task.Key.String(), "err", err)
			r.later(alarm{at: time.Now().Add(again), action: &a})
		}
	case Gather:
		r.halt() // nobody waits for the start any more
		r.async(ctx, func(ctx context.Context, t Task) Event {
			r.saving <- struct{}{} // a script that was stopped has ended: which checkpoint counts is sure
			defer func() { <-r.saving }()
			return r.site.gather(ctx, t)
		})
	case StartProgram:
		r.async(ctx, func(ctx context.Context, t Task) Event { return r.site.startProgram(ctx, t, a.Program) })
	case RecoverProgram:
		r.async(ctx, func(ctx context.Context, t Task) Event { return r.site.recoverProgram(ctx, t, a.Program) })
	case WatchProgram:
		r.async(ctx, func(ctx context.Context, t Task) Event { return r.site.watchProgram(ctx, t, a.Program) })
	case Clean:
		r.site.clean(ctx, r.task)
	case Drop:
		r.drop(ctx, a)
	}
}

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
		r.site.Lines.Job(eventDebug2, r.task.Key.Job, "Obit sent")
	}
	r.now(ctx, done)
}

// send sends a signal to all processes of the job: those of this host, and, at a mother
// superior, those of its sisters. One for a program goes to that one only.
func (r *Runner) send(ctx context.Context, a Action) {
	sig := a.Signal
	if a.Program != 0 {
		p, _ := r.task.Program(a.Program)
		r.signal(p.Handle, sig)
		return
	}
	if r.hookBefore(ctx, a.Text) {
		return
	}
	if sig == syscall.SIGTERM || sig == syscall.SIGKILL {
		r.site.Lines.Job(eventJob, r.task.Key.Job, "kill_job")
	}
	for _, h := range r.task.handles() {
		r.signal(h, sig)
	}
	if r.task.Life.Sisters.open() && r.task.State() != Gathering {
		r.pass(ctx, sig, a.Text)
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
	r.site.Lines.Job(eventJob, r.task.Key.Job, words)
	if err := r.site.note(r.task, "=>> PBS: job killed: "+words); err != nil {
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
