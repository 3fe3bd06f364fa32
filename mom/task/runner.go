package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// again is the pause before something is repeated that the disk did not let happen.
const again = 2 * time.Second

// A Runner owns one task while its Run lasts. Tell and Task may be called by anybody.
type Runner struct {
	site *Site
	task Task // of the goroutine of Run
	view atomic.Pointer[Task]
	mail chan letter
	done chan struct{}
	wg   sync.WaitGroup

	termed bool // execjob_preterm has run

	changed atomic.Pointer[chan struct{}] // closed when there is a newer view
	silent  map[pbs.HostName]time.Time    // sisters that do not answer, and since when; of the goroutine of Run

	passed map[pbs.HostName]<-chan struct{} // closed when each sister has got the last signal, or will not; of the goroutine of Run

	errands errands

	alarms  []alarm
	halt    context.CancelFunc // stops the staging, or the hooks of the start
	misfits map[Misfit]bool    // that the log has; of the goroutine of Run
	// hooking is held by whoever runs hooks of the job's start or end.
	hooking sync.Mutex
}

// A letter is an event whose sender may wait for its being saved.
type letter struct {
	event Event
	reply chan error // nil: nobody waits
}

// An alarm is an event, or an action, for later.
type alarm struct {
	at     time.Time
	event  Event
	action *Action
	walled bool // look whether the walltime is over
}

// NewRunner returns the runner of a task; it starts nothing.
func NewRunner(site *Site, t Task) *Runner {
	r := &Runner{site: site, task: t, mail: make(chan letter), done: make(chan struct{}), halt: func() {}}
	r.view.Store(&t)
	r.changed.Store(new(make(chan struct{})))
	return r
}

// Load returns the runner of a saved task.
func Load(site *Site, rec spool.Record) (*Runner, error) {
	if rec.Data == nil {
		return NewRunner(site, Lost(rec.Key)), nil
	}
	var t Task
	if err := json.Unmarshal(rec.Data, &t); err != nil {
		return nil, fmt.Errorf("read task %s: %w", rec.Key, err)
	}
	if t.Version != recordVersion || t.Key != rec.Key {
		return nil, fmt.Errorf("read task %s: not a record of version %d", rec.Key, recordVersion)
	}
	return NewRunner(site, t), nil
}

// Save writes a new task to disk, before its order is answered.
func (r *Runner) Save() error { return r.site.Spool.SaveTask(r.task.Key, r.task, true) }

// Task returns the task as it was last saved.
func (r *Runner) Task() Task { return *r.view.Load() }

// Done is closed when Run has returned.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Tell hands an event over and waits until what follows from it is saved and begun.
func (r *Runner) Tell(ctx context.Context, ev Event) error {
	l := letter{event: ev, reply: make(chan error, 1)}
	select {
	case r.mail <- l:
	case <-r.done:
		return fmt.Errorf("task %s: %w", r.Task().Key, context.Canceled)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-l.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run leads the task through its life, beginning with first. It returns when the task
// was dropped, or when ctx ends: then the job runs on.
func (r *Runner) Run(ctx context.Context, first Event) {
	defer close(r.done)
	ctx, cancel := context.WithCancel(ctx)
	defer r.wg.Wait()
	defer cancel()
	r.alarms = []alarm{{at: time.Now(), event: first}}
	for {
		timer := time.NewTimer(r.untilAlarm())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case l := <-r.mail:
			timer.Stop()
			r.open(ctx, l)
		case <-timer.C:
			r.ring(ctx)
		}
		if r.dropped() {
			return
		}
	}
}

func (r *Runner) dropped() bool { return r.task.Version == 0 }

// open handles a letter. An event that nobody waits for is tried again when the disk
// did not take it; a sender who waits is told.
func (r *Runner) open(ctx context.Context, l letter) {
	err := r.handle(ctx, l.event)
	if l.reply != nil {
		l.reply <- err
		return
	}
	if err != nil {
		r.site.Logger.Error("task event not handled", "task", r.task.Key.String(), "err", err)
		r.later(alarm{at: time.Now().Add(again), event: l.event})
	}
}

func (r *Runner) later(a alarm) {
	r.alarms = append(r.alarms, a)
	slices.SortStableFunc(r.alarms, func(a, b alarm) int { return a.at.Compare(b.at) })
}

func (r *Runner) untilAlarm() time.Duration {
	if len(r.alarms) == 0 {
		return time.Hour
	}
	return time.Until(r.alarms[0].at)
}

func (r *Runner) ring(ctx context.Context) {
	if len(r.alarms) == 0 || time.Until(r.alarms[0].at) > 0 {
		return
	}
	a := r.alarms[0]
	r.alarms = r.alarms[1:]
	switch {
	case a.action != nil:
		r.perform(ctx, *a.action)
	case a.walled:
		r.checkWall(ctx)
	default:
		r.open(ctx, letter{event: a.event})
	}
}

// handle decides, saves, and does. It is called from Run's goroutine only.
func (r *Runner) handle(ctx context.Context, ev Event) error {
	if s, ok := ev.(Signal); ok && r.task.Handle.PID != 0 {
		s.Elapsed = r.site.System.Elapsed(r.task.Handle)
		ev = s
	}
	if p, ok := ev.(Polled); ok {
		ev = r.listened(p)
	}
	if e, ok := ev.(Exited); ok {
		ev = r.site.measured(r.task, e)
	}
	if p, ok := ev.(Parted); ok {
		r.errands.idle(p)
	}
	next, actions, err := step(r.task, ev)
	if err != nil {
		return fmt.Errorf("job %s: %w", r.task.Key.Job, err)
	}
	reassigned := next.Number != r.task.Number
	if reassigned {
		if err := r.site.renode(next); err != nil {
			return fmt.Errorf("job %s: %w", next.Key.Job, err)
		}
	}
	if !reflect.DeepEqual(next, r.task) {
		// The accepted order, an assignment, the shim's word on the end and the facts are synced;
		// what is between them is void after a crash of the host.
		if err := r.site.Spool.SaveTask(next.Key, next, reassigned); err != nil {
			if reassigned {
				err = errors.Join(err, r.site.renode(r.task))
			}
			return fmt.Errorf("job %s: %s: %w", next.Key.Job, next.State, err)
		}
	}
	limited := r.task.Attrs.Resource("Resource_List", "walltime") != next.Attrs.Resource("Resource_List", "walltime")
	limited = limited || r.task.Halted != next.Halted
	if hookedOtherwise(r.task, next) {
		r.complain(next)
	}
	r.task = next
	r.publish(next)
	for _, a := range actions {
		r.perform(ctx, a)
	}
	if limited && next.State == Running {
		r.checkWall(ctx)
	}
	return nil
}

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
		r.hooking.Lock()
		defer r.hooking.Unlock()
		return do(ctx, hooks, t)
	})
}

// finish does what belongs to the end and may run hooks; what is left of the start is stopped.
func (r *Runner) finish(ctx context.Context, do func(context.Context, Task) Event) {
	r.halt()
	r.async(ctx, func(ctx context.Context, t Task) Event {
		r.hooking.Lock()
		defer r.hooking.Unlock()
		return do(ctx, t)
	})
}

// stageIn can be stopped before the mom is: by halt.
func (r *Runner) stageIn(ctx context.Context) {
	r.halt()
	staging, halt := context.WithCancel(ctx)
	r.halt = halt
	r.async(ctx, func(ctx context.Context, t Task) Event {
		defer halt()
		return unless(ctx, r.site.stageIn(staging, t))
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
		r.async(ctx, r.site.fetch)
	case Confirm:
		r.begin(ctx, r.site.confirm)
	case Launch:
		r.begin(ctx, r.launch)
	case RunPrologue:
		r.begin(ctx, r.site.runPrologue)
	case Conclude:
		r.conclude(ctx)
	case Recover:
		r.async(ctx, r.site.recover)
	case Watch:
		r.checkWall(ctx)
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
	case Send:
		r.send(ctx, a)
	case Note:
		r.note(a.Text)
	case Join:
		if r.task.Trial != nil {
			r.begin(ctx, r.joinTolerant)
			return
		}
		r.begin(ctx, r.site.join)
	case Poll:
		r.async(ctx, r.site.poll)
	case Hush:
		r.async(ctx, r.site.hush)
	case Part:
		r.part(ctx)
	case Resize:
		r.async(ctx, r.site.resize)
	case Renode:
		if err := r.site.renode(r.task); err != nil {
			r.site.Logger.Error("node file not written", "task", r.task.Key.String(), "err", err)
			r.later(alarm{at: time.Now().Add(again), action: &a})
		}
	case Gather:
		r.halt() // nobody waits for the start any more
		r.async(ctx, r.site.gather)
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
		r.later(alarm{at: time.Now().Add(again), action: &a})
		return
	}
	if f.Ended != nil {
		r.site.Lines.Job(eventDebug2, r.task.Key.Job, "Obit sent")
	}
	r.now(ctx, done)
}

func (t Task) startedFact() spool.Fact {
	return spool.Fact{Task: t.Key, Started: &spool.Started{Session: t.Handle.Session, JobDir: t.JobDir, At: t.StartedAt}}
}

func (t Task) endedFact() spool.Fact { return spool.Fact{Task: t.Key, Ended: t.Result} }

// send sends a signal to all processes of the job: those of this host, and, at a mother
// superior, those of its sisters. One for a program goes to that one only.
func (r *Runner) send(ctx context.Context, a Action) {
	sig := a.Signal
	if a.Program != 0 {
		p, _ := r.task.Program(a.Program)
		r.signal(p.Handle, sig)
		return
	}
	if r.preterm(ctx, sig) || r.hookBefore(ctx, a.Text) {
		return
	}
	if sig == syscall.SIGTERM || sig == syscall.SIGKILL {
		r.site.Lines.Job(eventJob, r.task.Key.Job, "kill_job")
	}
	for _, h := range r.task.handles() {
		r.signal(h, sig)
	}
	if r.task.Asked && !r.task.Gathered && r.task.State != Gathering {
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

// checkWall ends a job that is over its walltime, and else looks again when it will be.
// PBS ends it when whole seconds exceed the limit.
func (r *Runner) checkWall(ctx context.Context) {
	r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool { return a.walled })
	limit, ok := r.task.limit("walltime")
	if !ok || r.task.State != Running || r.task.Halted {
		return
	}
	elapsed := r.site.System.Elapsed(r.task.Handle)
	wall := r.task.active(elapsed)
	left := time.Duration(limit+1)*time.Second - wall
	if left <= 0 {
		r.now(ctx, Sampled{Usage: proc.Usage{Wall: elapsed}})
		return
	}
	r.later(alarm{at: time.Now().Add(left), walled: true})
}
