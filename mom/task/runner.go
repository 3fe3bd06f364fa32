package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
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
	// saved says that task is the record that was saved last; of the goroutine of Run.
	saved bool
	// fresh says that the order has come in this life of the mom: no earlier one may have started a shim.
	fresh     bool
	unstarted atomic.Pointer[string] // why the run is given back; nil: it is not

	view atomic.Pointer[Task]
	mail chan letter
	done chan struct{}
	wg   sync.WaitGroup

	changed atomic.Pointer[chan struct{}] // closed when there is a newer view

	quiet   quiet   // of the goroutine of Run
	passing passing // of the goroutine of Run
	notices notices

	alarms    []alarm
	halt      context.CancelFunc // stops the staging, or the hooks of the start
	stopHooks context.CancelFunc // stops the hooks of a new assignment
	misfits   map[Misfit]bool    // that the log has; of the goroutine of Run
	// hooking has an element while somebody runs hooks of the job's start or end.
	hooking chan struct{}
	saving  chan struct{} // the same of scripts that checkpoint the job
	ender   atomic.Bool   // the site's script is ending the job
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
	snaps  bool // look whether a checkpoint is due
}

// NewRunner returns the runner of a task; it starts nothing.
func NewRunner(site *Site, t Task) *Runner {
	r := &Runner{site: site, task: t, mail: make(chan letter), done: make(chan struct{}), hooking: make(chan struct{}, 1), saving: make(chan struct{}, 1), halt: func() {}, stopHooks: func() {}}
	r.quiet.site, r.notices.r = site, r
	r.view.Store(&t)
	r.changed.Store(new(make(chan struct{})))
	return r
}

// Load returns the runner of a saved task.
func Load(site *Site, rec spool.Record) (*Runner, error) {
	t, err := Read(rec)
	if err != nil {
		return nil, err
	}
	return NewRunner(site, t), nil
}

// Read returns a saved task.
func Read(rec spool.Record) (Task, error) {
	if rec.Data == nil {
		return Lost(rec.Key), nil
	}
	var t Task
	if err := json.Unmarshal(rec.Data, &t); err != nil {
		return Task{}, fmt.Errorf("read task %s: %w", rec.Key, err)
	}
	if t.Version != recordVersion || t.Key != rec.Key {
		return Task{}, fmt.Errorf("read task %s: not a record of version %d", rec.Key, recordVersion)
	}
	return t, nil
}

// Save writes a new task to disk, before its order is answered.
func (r *Runner) Save() error {
	err := r.site.Spool.SaveTask(r.task.Key, r.task, true)
	r.saved = err == nil
	return err
}

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
	_, r.fresh = first.(Accept)
	ctx, cancel := context.WithCancel(ctx)
	defer r.wg.Wait()
	defer cancel()
	r.open(ctx, letter{event: first}) // before whatever others have to say
	for !r.dropped() {
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
	}
}

func (r *Runner) dropped() bool { return r.task.Version == 0 }

// open handles a letter. An event that nobody waits for is tried again when the disk
// did not take it, and forgotten when the task does not take it any more; a sender who waits is
// told.
func (r *Runner) open(ctx context.Context, l letter) {
	err := r.handle(ctx, l.event)
	if l.reply != nil {
		l.reply <- err
		return
	}
	if err == nil {
		return
	}
	if _, refused := errors.AsType[*pbs.Error](err); refused {
		r.site.Logger.Warn("task event came too late", "task", r.task.Key.String(), "err", err)
		return
	}
	r.site.Logger.Error("task event not handled", "task", r.task.Key.String(), "err", err)
	r.later(alarm{at: time.Now().Add(again), event: r.hindered(l.event, err)})
}

// record makes next what is on disk of the task. If somebody has removed its folder it is made
// anew: the run must come to an end, and be told.
func (r *Runner) record(next Task, durable bool) error {
	var err error
	if r.saved {
		err = r.site.Spool.ChangeTask(next.Key, r.task, next, durable)
	} else {
		err = r.site.Spool.SaveTask(next.Key, next, durable)
	}
	if !durable && errors.Is(err, fs.ErrNotExist) && !r.dropped() {
		err = r.site.Spool.SaveTask(next.Key, next, true)
	}
	r.saved = r.saved || err == nil
	return err
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
	case a.snaps:
		r.checkSnap(ctx)
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
		ev = r.quiet.listened(r.task, p)
	}
	if e, ok := ev.(Exited); ok {
		ev = r.site.measured(r.task, e)
	}
	if k, ok := ev.(Kill); ok {
		ev = r.pretermed(k)
	}
	if p, ok := ev.(SistersTold); ok {
		r.notices.idle(p)
	}
	next, actions, err := step(r.task, ev)
	if err != nil {
		return fmt.Errorf("job %s: %w", r.task.Key.Job, err)
	}
	reassigned := next.Assignment.Number != r.task.Assignment.Number
	if reassigned {
		if err := r.site.renode(next); err != nil {
			return fmt.Errorf("job %s: %w", next.Key.Job, err)
		}
	}
	if !reflect.DeepEqual(next, r.task) {
		// The accepted order, an assignment that is asked for or withdrawn, the shim's word on the
		// end and the facts are synced; what is between them is void after a crash of the host.
		a, ok := ev.(Assign)
		if err := r.record(next, ok && a.Step != AssignDone); err != nil {
			if reassigned {
				err = errors.Join(err, r.site.renode(r.task))
			}
			return fmt.Errorf("job %s: %s: %w", next.Key.Job, next.State(), err)
		}
	}
	limited := limitedOtherwise(r.task, next)
	if hookedOtherwise(r.task, next) {
		r.complain(next)
	}
	snaps := snapsOtherwise(r.task, next, ev)
	if line := notStarted(r.task, next, ev); line != "" {
		r.site.Lines.Job(pbs.LogError, next.Key.Job, line)
	}
	if line := received(r.task, next, ev); line != "" {
		r.site.Lines.Job(pbs.LogJob, next.Key.Job, line)
	}
	r.task = next
	r.publish(next)
	if p, ok := ev.(SistersTold); ok && p.saved != nil {
		close(p.saved)
	}
	for _, a := range actions {
		r.perform(ctx, a)
	}
	if limited && next.timed() {
		r.checkWall(ctx)
	}
	if snaps {
		r.checkSnap(ctx)
	}
	return nil
}

// checkWall ends a job that is over its walltime, and else looks again when it will be.
// PBS ends it when whole seconds exceed the limit.
func (r *Runner) checkWall(ctx context.Context) {
	r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool { return a.walled })
	limit, ok := r.task.limit("walltime")
	if !ok || !r.task.timed() {
		return
	}
	elapsed := r.site.System.Elapsed(r.task.Handle)
	wall := r.task.Suspension.Active(elapsed)
	left := time.Duration(limit+1)*time.Second - wall
	if left <= 0 {
		r.now(ctx, Sampled{Usage: proc.Usage{Wall: elapsed}})
		return
	}
	r.later(alarm{at: time.Now().Add(left), walled: true})
}
