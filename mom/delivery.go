package mom

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// savesAtOnce bounds the tasks of one delivery that are being saved.
const savesAtOnce = 16

// A delivery is a call of the leader while its orders are carried out.
type delivery struct {
	mom   *Mom
	life  *life
	lapse uint64                    // the deadline under which what is accepted counts
	saved map[uint64]error          // of orders to run a job, which come before the others
	fresh map[uint64]*spool.Refusal // answers that are to be written down; nil: it was done
}

// runJobs takes all orders to run a job that have no answer yet, several at a time,
// because each has to wait for the disk.
func (d *delivery) runJobs(orders []*api.Order) {
	var mu sync.Mutex
	var jobs errgroup.Group
	jobs.SetLimit(savesAtOnce)
	for _, o := range orders {
		_, answered, void := d.life.spool.Answered(o.GetId())
		if o.GetRun() == nil || answered || void {
			continue
		}
		jobs.Go(func() error {
			err := d.runJob(key(o), o.GetRun())
			mu.Lock()
			defer mu.Unlock()
			d.saved[o.GetId()] = err
			return nil
		})
	}
	_ = jobs.Wait() // each has its own result
}

func key(o *api.Order) spool.TaskKey {
	return spool.TaskKey{Job: pbs.JobID(o.GetJob()), Run: pbs.RunCount(o.GetRunCount())}
}

func (d *delivery) answer(ctx context.Context, o *api.Order) (*api.Answer, error) {
	refusal, answered, void := d.life.spool.Answered(o.GetId())
	var before task.Task
	if r := d.life.task(key(o)); r != nil {
		before = r.Task()
	}
	switch {
	case void:
		refusal = &spool.Refusal{Code: uint16(pbs.InvalidRequest), Message: "the order is not open any more"}
	case !answered:
		var err error
		d.received(ctx, o)
		if refusal, err = d.obey(ctx, o); err != nil {
			return nil, err
		}
		d.rejected(ctx, o, refusal)
		d.fresh[o.GetId()] = refusal
	}
	a := &api.Answer{Order: o.GetId()}
	if refusal != nil {
		a.Refusal = &api.Refusal{Code: uint32(refusal.Code), Message: refusal.Message}
	} else if !answered && o.GetRelease().GetStep() == api.ReleaseStep_RELEASE_STEP_ASKED {
		d.accounted(a, before)
	}
	return a, nil
}

// unsaved reports whether a run was refused because the disk does not take it.
func unsaved(err error) bool {
	refusal, ok := errors.AsType[*pbs.Error](err)
	return ok && refusal.Code == pbs.SystemError
}

// obey carries an order out. An error that is no refusal leaves the order undone.
func (d *delivery) obey(ctx context.Context, o *api.Order) (*spool.Refusal, error) {
	k := key(o)
	var err error
	switch {
	case o.GetRun() != nil:
		err = d.saved[o.GetId()]
	case o.GetKill() != nil:
		err = d.killJob(ctx, k, o.GetKill())
	case o.GetSignal() != nil:
		err = d.signalJob(ctx, k, o.GetSignal().GetSignal())
	case o.GetForget() != nil:
		err = d.forgetJob(ctx, k)
	case o.GetAlter() != nil:
		err = d.life.tell(ctx, k, task.Alter{Attrs: attrs(o.GetAlter().GetAttributes())})
	case o.GetRelease() != nil:
		err = d.releaseNodes(ctx, k, o.GetRelease())
	case o.GetCheckpoint() != nil:
		err = d.checkpointJob(ctx, k, o.GetCheckpoint())
	case o.GetMessage() != nil:
		err = d.messageJob(k, o.GetMessage())
	default:
		err = pbs.Errorf(pbs.NotSupported, "%s", "the mom does not know this kind of order")
	}
	refusal, ok := errors.AsType[*pbs.Error](err)
	if !ok {
		return nil, err
	}
	return &spool.Refusal{Code: uint16(refusal.Code), Message: refusal.Message}, nil
}

// runJob saves a task and starts it. A task that is there already was saved by this
// very order, before a crash.
func (d *delivery) runJob(k spool.TaskKey, run *api.RunJob) error {
	if d.life.task(k) != nil {
		return nil
	}
	if len(run.GetAttributes()) == 0 || k.Job == "" {
		return pbs.Errorf(pbs.UnknownJob, "run job %s: it has no attributes", k.Job)
	}
	if err := d.life.unmixed(k); err != nil {
		return err
	}
	r, err := d.newTask(k, run)
	if err != nil {
		text := fmt.Sprintf("cannot save job: %v", err)
		d.mom.lines.Job(pbs.LogError, k.Job, text)
		return pbs.Errorf(pbs.SystemError, "%s: %s", d.mom.config.Host, text)
	}
	if !d.life.start(r, task.Accept{}) {
		return errors.Join(errEnding, d.life.spool.Drop(k))
	}
	return nil
}

var errEnding = errors.New("the mom is ending")

func (d *delivery) newTask(k spool.TaskKey, run *api.RunJob) (*task.Runner, error) {
	cookie, err := d.mom.config.cookie()
	if err != nil {
		return nil, err
	}
	t := task.New(k, attrs(run.GetAttributes()), run.GetScriptBytes() > 0, d.mom.config.System.BootID(), cookie)
	t.Lapse = d.lapse
	t.Hosts, t.Host, t.Known = runHosts(run.GetHosts()), d.mom.config.Host, knownOwner(run.GetAccount(), t.Attrs.Get("euser"), t.Attrs.Get("egroup"))
	t.OutputAt = run.GetOutputAt()
	if restart := run.GetRestart(); restart != nil {
		t.Checkpoints.Restart, t.Staging = &task.Restart{Session: restart.GetSession()}, t.Staging.Here()
	}
	r := task.NewRunner(d.life.site, t)
	if err := r.Save(); err != nil {
		return nil, errors.Join(err, d.life.spool.Drop(k))
	}
	return r, nil
}

func attrs(list []*api.Attribute) task.Attrs {
	all := make(task.Attrs, len(list))
	for i, a := range list {
		all[i] = task.Attr{Name: a.GetName(), Resource: a.GetResource(), Value: a.GetValue()}
	}
	return all
}

// killJob ends a run. One that is not known here has ended, or never came: the servers
// learn it by a fact, for they wait for one.
func (d *delivery) killJob(ctx context.Context, k spool.TaskKey, kill *api.KillJob) error {
	if d.life.task(k) == nil {
		return d.life.spool.Append(spool.Fact{Task: k, Ended: &spool.Ended{
			ExitStatus: pbs.ExitAborted, NeverStarted: true, Comment: "the mom does not know the run",
		}})
	}
	return d.life.tell(ctx, k, task.Kill{Left: kill.GetLeft(), Killing: task.Killing{
		Delay: time.Duration(kill.GetDelayMs()) * time.Millisecond, Requeue: kill.GetRequeue(),
	}})
}

func (d *delivery) signalJob(ctx context.Context, k spool.TaskKey, name string) error {
	d.mom.lines.Job(pbs.LogDebug, k.Job, "signal job request received")
	d.mom.lines.Job(pbs.LogAdmin, k.Job, "signal job with "+name)
	return d.life.tell(ctx, k, task.Signal{Name: name})
}

// messageJob writes a line where the owner of a job looks.
func (d *delivery) messageJob(k spool.TaskKey, msg *api.MessageJob) error {
	r := d.life.task(k)
	if r == nil {
		return pbs.Refuse(pbs.UnknownJob)
	}
	d.mom.lines.Job(pbs.LogDebug, k.Job, "message job request received")
	return r.Write(msg.GetText(), msg.GetOutput(), msg.GetError())
}

func (d *delivery) forgetJob(ctx context.Context, k spool.TaskKey) error {
	r := d.life.task(k)
	if r == nil {
		return nil
	}
	d.mom.lines.Job(pbs.LogDebug, k.Job, "delete job request received")
	if t := r.Task(); t.State() == task.Ended {
		d.life.last.keep(t, time.Now())
	}
	return d.life.tell(ctx, k, task.Forget{})
}

func (l *life) tell(ctx context.Context, k spool.TaskKey, ev task.Event) error {
	r := l.task(k)
	if r == nil {
		return pbs.Refuse(pbs.UnknownJob)
	}
	return r.Tell(ctx, ev)
}

// unmixed refuses a run while an earlier one of the job is not over here, or a later one is known.
func (l *life) unmixed(k spool.TaskKey) error {
	for _, o := range l.others(k) {
		if t := o.Task(); t.Key.Run > k.Run || t.State() != task.Ended {
			return pbs.Errorf(pbs.BadState, "run job %s: run %d of it is %s on %s", k.Job, t.Key.Run, t.State(), l.site.Host)
		}
	}
	return nil
}
