package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/errgroup"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// savesAtOnce bounds the tasks of one delivery that are being saved.
const savesAtOnce = 16

var _ apiconnect.AgentHandler = (*Mom)(nil)

// Handler returns the path and the handler of the Agent service.
func (m *Mom) Handler(opts ...connect.HandlerOption) (string, http.Handler) {
	return apiconnect.NewAgentHandler(m, opts...)
}

// Ping says that the mom lives, and has it register again where that is asked for.
func (m *Mom) Ping(_ context.Context, r *connect.Request[api.PingRequest]) (*connect.Response[api.PingReply], error) {
	if r.Msg.GetRegister() {
		m.registerAgain()
	}
	if l := m.running(); l != nil { // a leader calls who was silent, and who is to hear of another fence
		l.renewSoon()
	}
	return connect.NewResponse(&api.PingReply{
		Host: string(m.config.Host), BootId: m.config.System.BootID(),
	}), nil
}

// Deliver takes orders: each is on disk before it is answered, done before is answered
// as before, and one that is not open any more is refused (L9). Behind an order that the disk leaves
// undone only runs that cannot be saved either are answered: their jobs are to go elsewhere (L14).
func (m *Mom) Deliver(ctx context.Context, r *connect.Request[api.DeliverRequest]) (*connect.Response[api.DeliverReply], error) {
	l := m.running()
	if l == nil || !l.known() {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the mom has not registered yet"))
	}
	// What is accepted below counts under the deadline of this moment, however long we
	// are stopped on the way: it was not given up yet.
	lapse, ok := l.fence.lapse()
	if !ok {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the lease of the mom is over"))
	}
	m.delivery.Lock()
	defer m.delivery.Unlock()
	if l.betweenEpochs() {
		return nil, connect.NewError(connect.CodeFailedPrecondition, spool.ErrNewEpoch)
	}
	req := r.Msg
	if err := l.spool.Orders(req.GetEpoch(), req.GetTerm(), req.GetLowestOpen()); m.void(err) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	reply, fresh := &api.DeliverReply{}, make(map[uint64]*spool.Refusal)
	saved := m.runJobs(l, req.GetOrders(), lapse)
	var undone error
	below := spool.NoneOpen
	for _, o := range req.GetOrders() {
		if undone != nil && !unsaved(saved[o.GetId()]) {
			continue
		}
		a, err := m.answer(ctx, l, o, saved, fresh)
		if err != nil { // not refused, but not done either: it comes again
			undone, below = fmt.Errorf("order %d: %w", o.GetId(), err), o.GetId()
			continue
		}
		reply.Answers = append(reply.Answers, a)
	}
	err := l.spool.Answer(req.GetEpoch(), fresh, below)
	switch {
	case m.void(err):
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	case err != nil: // what was accepted is not answered: it comes again
		undone = errors.Join(undone, err)
		reply.Answers = slices.DeleteFunc(reply.Answers, func(a *api.Answer) bool { return a.GetRefusal() == nil })
	}
	if undone != nil && len(reply.Answers) == 0 {
		return nil, connect.NewError(connect.CodeUnavailable, undone)
	}
	return connect.NewResponse(reply), nil
}

// endAfter is when the mom ends that was told to: when its answer has gone out.
const endAfter = 500 * time.Millisecond

// EndMom ends the mom as SIGINT does: jobs run on under their shims, and the next mom adopts them.
func (m *Mom) EndMom(_ context.Context, r *connect.Request[api.EndMomRequest]) (*connect.Response[api.EndMomReply], error) {
	l := m.running()
	if l == nil || !l.known() {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the mom has not registered yet"))
	}
	m.delivery.Lock()
	err := l.spool.Orders(r.Msg.GetEpoch(), r.Msg.GetTerm(), 0)
	m.delivery.Unlock()
	if m.void(err) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	m.lines.system(pbs.LogSystem, string(m.config.Host), "told to end by the servers")
	time.AfterFunc(endAfter, func() { m.Stop(false) })
	return connect.NewResponse(&api.EndMomReply{}), nil
}

// void reports whether orders must not be looked at: they are of another epoch, or of a
// leader that was succeeded. Other errors are the disk's, and logged.
func (m *Mom) void(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, spool.ErrNewEpoch):
		m.registerAgain()
		return true
	case errors.Is(err, spool.ErrOldTerm):
		return true
	}
	m.lines.system(pbs.LogError, "Deliver", err.Error())
	return false
}

// runJobs takes all orders to run a job that have no answer yet, several at a time,
// because each has to wait for the disk.
func (m *Mom) runJobs(l *life, orders []*api.Order, lapse uint64) map[uint64]error {
	var mu sync.Mutex
	results := make(map[uint64]error)
	var jobs errgroup.Group
	jobs.SetLimit(savesAtOnce)
	for _, o := range orders {
		_, answered, void := l.spool.Answered(o.GetId())
		if o.GetRun() == nil || answered || void {
			continue
		}
		jobs.Go(func() error {
			err := m.runJob(l, key(o), o.GetRun(), lapse)
			mu.Lock()
			defer mu.Unlock()
			results[o.GetId()] = err
			return nil
		})
	}
	_ = jobs.Wait() // each has its own result
	return results
}

func key(o *api.Order) spool.TaskKey {
	return spool.TaskKey{Job: pbs.JobID(o.GetJob()), Run: pbs.RunCount(o.GetRunCount())}
}

func (m *Mom) answer(ctx context.Context, l *life, o *api.Order, saved map[uint64]error, fresh map[uint64]*spool.Refusal) (*api.Answer, error) {
	refusal, answered, void := l.spool.Answered(o.GetId())
	var before task.Task
	if r := l.task(key(o)); r != nil {
		before = r.Task()
	}
	switch {
	case void:
		refusal = &spool.Refusal{Code: uint16(pbs.InvalidRequest), Message: "the order is not open any more"}
	case !answered:
		var err error
		m.received(ctx, o)
		if refusal, err = m.obey(ctx, l, o, saved); err != nil {
			return nil, err
		}
		m.rejected(ctx, o, refusal)
		fresh[o.GetId()] = refusal
	}
	a := &api.Answer{Order: o.GetId()}
	if refusal != nil {
		a.Refusal = &api.Refusal{Code: uint32(refusal.Code), Message: refusal.Message}
	} else if !answered && o.GetRelease().GetStep() == api.ReleaseStep_RELEASE_STEP_ASKED {
		m.accounted(a, before)
	}
	return a, nil
}

// unsaved reports whether a run was refused because the disk does not take it.
func unsaved(err error) bool {
	refusal, ok := errors.AsType[*pbs.Error](err)
	return ok && refusal.Code == pbs.SystemError
}

// obey carries an order out. An error that is no refusal leaves the order undone.
func (m *Mom) obey(ctx context.Context, l *life, o *api.Order, saved map[uint64]error) (*spool.Refusal, error) {
	k := key(o)
	var err error
	switch {
	case o.GetRun() != nil:
		err = saved[o.GetId()]
	case o.GetKill() != nil:
		err = m.killJob(ctx, l, k, o.GetKill())
	case o.GetSignal() != nil:
		err = m.signalJob(ctx, l, k, o.GetSignal().GetSignal())
	case o.GetForget() != nil:
		err = m.forgetJob(ctx, l, k)
	case o.GetAlter() != nil:
		err = l.tell(ctx, k, task.Alter{Attrs: attrs(o.GetAlter().GetAttributes())})
	case o.GetRelease() != nil:
		err = m.releaseNodes(ctx, l, k, o.GetRelease())
	case o.GetCheckpoint() != nil:
		err = m.checkpointJob(ctx, l, k, o.GetCheckpoint())
	case o.GetMessage() != nil:
		err = m.messageJob(l, k, o.GetMessage())
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
func (m *Mom) runJob(l *life, k spool.TaskKey, run *api.RunJob, lapse uint64) error {
	if l.task(k) != nil {
		return nil
	}
	if len(run.GetAttributes()) == 0 || k.Job == "" {
		return pbs.Errorf(pbs.UnknownJob, "run job %s: it has no attributes", k.Job)
	}
	if err := m.unmixed(l, k); err != nil {
		return err
	}
	r, err := m.newTask(l, k, run, lapse)
	if err != nil {
		text := fmt.Sprintf("cannot save job: %v", err)
		m.lines.Job(pbs.LogError, k.Job, text)
		return pbs.Errorf(pbs.SystemError, "%s: %s", m.config.Host, text)
	}
	if !l.start(r, task.Accept{}) {
		return errors.Join(errEnding, l.spool.Drop(k))
	}
	return nil
}

// unmixed refuses a run while an earlier one of the job is not over here, or a later one is known.
func (m *Mom) unmixed(l *life, k spool.TaskKey) error {
	for _, o := range l.others(k) {
		if t := o.Task(); t.Key.Run > k.Run || t.State() != task.Ended {
			return pbs.Errorf(pbs.BadState, "run job %s: run %d of it is %s on %s", k.Job, t.Key.Run, t.State(), m.config.Host)
		}
	}
	return nil
}

var errEnding = errors.New("the mom is ending")

func (m *Mom) newTask(l *life, k spool.TaskKey, run *api.RunJob, lapse uint64) (*task.Runner, error) {
	cookie, err := m.config.cookie()
	if err != nil {
		return nil, err
	}
	t := task.New(k, attrs(run.GetAttributes()), run.GetScriptBytes() > 0, m.config.System.BootID(), cookie)
	t.Lapse = lapse
	t.Hosts, t.Host, t.Known = runHosts(run.GetHosts()), m.config.Host, knownOwner(run.GetAccount(), t.Attrs.Get("euser"), t.Attrs.Get("egroup"))
	t.OutputAt = run.GetOutputAt()
	if restart := run.GetRestart(); restart != nil {
		t.Checkpoints.Restart, t.Staging = &task.Restart{Session: restart.GetSession()}, t.Staging.Here()
	}
	r := task.NewRunner(l.site, t)
	if err := r.Save(); err != nil {
		return nil, errors.Join(err, l.spool.Drop(k))
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
func (m *Mom) killJob(ctx context.Context, l *life, k spool.TaskKey, kill *api.KillJob) error {
	if l.task(k) == nil {
		return l.spool.Append(spool.Fact{Task: k, Ended: &spool.Ended{
			ExitStatus: pbs.ExitAborted, NeverStarted: true, Comment: "the mom does not know the run",
		}})
	}
	return l.tell(ctx, k, task.Kill{Left: kill.GetLeft(), Killing: task.Killing{
		Delay: time.Duration(kill.GetDelayMs()) * time.Millisecond, Requeue: kill.GetRequeue(),
	}})
}

func (m *Mom) signalJob(ctx context.Context, l *life, k spool.TaskKey, name string) error {
	m.lines.Job(pbs.LogDebug, k.Job, "signal job request received")
	m.lines.Job(pbs.LogAdmin, k.Job, "signal job with "+name)
	return l.tell(ctx, k, task.Signal{Name: name})
}

// messageJob writes a line where the owner of a job looks.
func (m *Mom) messageJob(l *life, k spool.TaskKey, msg *api.MessageJob) error {
	r := l.task(k)
	if r == nil {
		return pbs.Refuse(pbs.UnknownJob)
	}
	m.lines.Job(pbs.LogDebug, k.Job, "message job request received")
	return r.Write(msg.GetText(), msg.GetOutput(), msg.GetError())
}

func (m *Mom) forgetJob(ctx context.Context, l *life, k spool.TaskKey) error {
	r := l.task(k)
	if r == nil {
		return nil
	}
	m.lines.Job(pbs.LogDebug, k.Job, "delete job request received")
	if t := r.Task(); t.State() == task.Ended {
		l.last.keep(t, time.Now())
	}
	return l.tell(ctx, k, task.Forget{})
}

func (l *life) tell(ctx context.Context, k spool.TaskKey, ev task.Event) error {
	r := l.task(k)
	if r == nil {
		return pbs.Refuse(pbs.UnknownJob)
	}
	return r.Tell(ctx, ev)
}
