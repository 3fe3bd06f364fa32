package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Sisters gives the client of the mom of a host, which is expected at HOST:PORT.
type Sisters interface {
	SisterOf(host, address string) apiconnect.SisterClient
}

// sister is the Sister service: what this mom does for the others of a run.
type sister struct{ *Mom }

var _ apiconnect.SisterHandler = sister{}

// SisterHandler returns the path and the handler of the Sister service.
func (m *Mom) SisterHandler(opts ...connect.HandlerOption) (string, http.Handler) {
	return apiconnect.NewSisterHandler(sister{m}, opts...)
}

// Join makes this host a sister. The record is on disk before the servers are asked whether the
// run counts: whatever ends the run from then on finds it here (L2).
func (s sister) Join(ctx context.Context, r *connect.Request[api.JoinRunRequest]) (*connect.Response[api.JoinRunReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	hosts := runHosts(r.Msg.GetHosts())
	if len(hosts) < 2 || hosts[0].Name != caller.Host {
		return nil, fmt.Errorf("join of %s by %s: %w", r.Msg.GetJob(), caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	// The record comes before the question, so its folder must not lead elsewhere.
	if id, err := pbs.ParseJobID(r.Msg.GetJob(), ""); err != nil || string(id) != r.Msg.GetJob() {
		return nil, pbs.Errorf(pbs.BadJobID, "join of %q: illegally formed job identifier", r.Msg.GetJob())
	}
	runner, err := s.take(r.Msg, hosts)
	if err != nil {
		return nil, err
	}
	t, err := runner.Await(ctx, func(t task.Task) bool { return t.State() != task.Accepted })
	switch {
	case err != nil:
		return nil, connect.NewError(connect.CodeUnavailable, err)
	case t.State() != task.Running && t.Result != nil && t.Result.ExitStatus == pbs.ExitBadRestart:
		return nil, pbs.Errorf(pbs.BoundElsewhere, "%s: %s", s.config.Host, t.Result.Comment)
	case t.Part.Why.Has(task.HooksRefused) && t.Result != nil:
		return nil, pbs.Errorf(pbs.HookError, "%s: %s", s.config.Host, t.Result.Comment)
	case t.State() != task.Running && t.Result != nil && t.Result.Fault != "":
		return nil, pbs.Errorf(pbs.SystemError, "%s: %s", s.config.Host, t.Result.Comment)
	case t.State() != task.Running && t.Result != nil:
		return nil, pbs.Errorf(pbs.BadState, "%s: %s", s.config.Host, t.Result.Comment)
	case t.State() != task.Running:
		return nil, pbs.Refuse(pbs.BadState)
	}
	return connect.NewResponse(&api.JoinRunReply{}), nil
}

// take accepts a sister's part as Deliver accepts an order to run a job.
func (s sister) take(req *api.JoinRunRequest, hosts []task.Host) (*task.Runner, error) {
	l := s.running()
	if l == nil || !l.known() || l.leaving.Load() {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the mom has not registered yet, or is about to stop"))
	}
	lapse, ok := l.fence.lapse()
	if !ok {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the lease of the mom is over"))
	}
	s.delivery.Lock() // what was accepted is in the next list of a registration
	defer s.delivery.Unlock()
	if l.betweenEpochs() {
		return nil, connect.NewError(connect.CodeUnavailable, spool.ErrNewEpoch)
	}
	k := key(&api.Order{Job: req.GetJob(), RunCount: req.GetRunCount()})
	if r := l.task(k); r != nil {
		return r, nil
	}
	if err := l.unmixed(k); err != nil {
		return nil, err
	}
	cookie, err := s.config.cookie()
	if err != nil {
		return nil, err
	}
	t := task.NewPart(k, attrs(req.GetAttributes()), s.config.System.BootID(), cookie)
	t.Lapse, t.Hosts, t.Host = lapse, hosts, s.config.Host
	if of := req.GetRestart(); of != nil {
		t.Checkpoints.Restart = &task.Restart{Of: checkpointID(of)}
	}
	r := task.NewRunner(l.site, t)
	if err := r.Save(); err != nil {
		text := fmt.Sprintf("cannot save job: %v", err)
		s.lines.Job(pbs.LogError, k.Job, text)
		return nil, errors.Join(pbs.Errorf(pbs.SystemError, "%s: %s", s.config.Host, text), l.spool.Drop(k))
	}
	if !l.start(r, task.Accept{}) {
		return nil, connect.NewError(connect.CodeUnavailable, errors.Join(errEnding, l.spool.Drop(k)))
	}
	s.lines.Job(pbs.LogJob, k.Job, fmt.Sprintf("JOIN_JOB as node %d", t.Node()))
	return r, nil
}

// part finds the caller's run here. UnknownJob is the refusal when it is not, or was never.
func (s sister) part(ctx context.Context, job string, run uint32) (*task.Runner, error) {
	l := s.running()
	if l == nil || !l.known() {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the mom has not registered yet"))
	}
	r := l.task(key(&api.Order{Job: job, RunCount: run}))
	if r == nil {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	if caller, _ := transport.CallerFrom(ctx); !r.Task().Party(caller.Host) {
		return nil, fmt.Errorf("call of %s about %s: %w", caller.Host, job, pbs.Refuse(pbs.Unauthorized))
	}
	return r, nil
}

// led finds the part of the caller's run here, whose mother superior alone steers it.
func (s sister) led(ctx context.Context, job string, run uint32) (*task.Runner, error) {
	r, err := s.part(ctx, job, run)
	if err != nil {
		return nil, err
	}
	caller, _ := transport.CallerFrom(ctx)
	if t := r.Task(); !t.Sister() || t.Hosts[0].Name != caller.Host {
		return nil, fmt.Errorf("call of %s about %s: %w", caller.Host, job, pbs.Refuse(pbs.Unauthorized))
	}
	return r, nil
}

// End ends the part and waits until nothing of it is left; a part that is released answers before its
// last hooks, and goes on when its mother superior has saved the answer. One that is not there is over; what it
// has used is known for a while.
func (s sister) End(ctx context.Context, r *connect.Request[api.EndPartRequest]) (*connect.Response[api.EndPartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if errors.Is(err, pbs.Refuse(pbs.UnknownJob)) {
		return connect.NewResponse(&api.EndPartReply{Share: s.lastShare(ctx, r.Msg), Over: true}), nil
	}
	if err != nil {
		return nil, err
	}
	if kept := task.KeptPart(r.Msg.GetKept()); kept != 0 && runner.Task().Checkpoints.Kept != kept {
		if err := runner.Tell(ctx, task.PartKept{Kept: kept}); err != nil {
			return nil, connect.NewError(connect.CodeUnavailable, err)
		}
	}
	if t := runner.Task(); t.State() != task.Ended {
		if err := runner.Tell(ctx, endOf(r.Msg, t)); err != nil {
			return nil, connect.NewError(connect.CodeUnavailable, err)
		}
	}
	first := r.Msg.GetReleased() && !r.Msg.GetReported()
	t, err := runner.Await(ctx, func(t task.Task) bool { return t.State() == task.Ended || first && t.Reckoned() })
	if err != nil && t.State() != task.Ended {
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	return connect.NewResponse(&api.EndPartReply{Share: share(t), Over: t.State() == task.Ended}), nil
}

func (s sister) lastShare(ctx context.Context, r *api.EndPartRequest) *api.Share {
	caller, _ := transport.CallerFrom(ctx)
	if l := s.running(); l != nil {
		return l.last.of(spool.TaskKey{Job: pbs.JobID(r.GetJob()), Run: pbs.RunCount(r.GetRunCount())}, caller.Host)
	}
	return nil
}

// endOf returns what a part hears of its end.
func endOf(r *api.EndPartRequest, t task.Task) task.Event {
	switch {
	case r.GetReported() && t.Result != nil:
		return task.Reported{}
	case r.GetReleased():
		return task.Dismiss{}
	case r.GetAbandoned():
		return task.Abandon{}
	}
	return task.Kill{Mother: true}
}

// Poll tells how the part stands.
func (s sister) Poll(ctx context.Context, r *connect.Request[api.PollPartRequest]) (*connect.Response[api.PollPartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if errors.Is(err, pbs.Refuse(pbs.UnknownJob)) {
		return connect.NewResponse(&api.PollPartReply{Why: "the mom does not know the run"}), nil
	}
	if err != nil {
		return nil, err
	}
	t := runner.Task()
	reply := &api.PollPartReply{Lives: !t.Over(), Share: share(t)}
	if t.Result != nil {
		reply.Why = t.Result.Comment
	}
	return connect.NewResponse(reply), nil
}

// Signal sends a signal to the part's processes.
func (s sister) Signal(ctx context.Context, r *connect.Request[api.SignalPartRequest]) (*connect.Response[api.SignalPartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	if err := runner.Tell(ctx, task.Signal{Name: r.Msg.GetSignal()}); err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.SignalPartReply{}), nil
}

func runHosts(list []*api.RunHost) []task.Host {
	all := make([]task.Host, len(list))
	for i, h := range list {
		all[i] = task.Host{Name: pbs.HostName(h.GetName()), Address: h.GetAddress()}
	}
	return all
}

// peers is task.Peers over the network.
type peers struct{ sisters Sisters }

var errNoPeers = errors.New("this mom reaches no other moms")

func (p peers) of(h task.Host) (apiconnect.SisterClient, error) {
	if p.sisters == nil {
		return nil, errNoPeers
	}
	return p.sisters.SisterOf(string(h.Name), h.Address), nil
}

// Join implements task.Peers.
func (p peers) Join(ctx context.Context, to task.Host, t task.Task) error {
	c, err := p.of(to)
	if err != nil {
		return err
	}
	req := &api.JoinRunRequest{Job: string(t.Key.Job), RunCount: uint32(t.Key.Run)}
	for _, a := range t.Attrs {
		req.Attributes = append(req.Attributes, &api.Attribute{Name: a.Name, Resource: a.Resource, Value: a.Value})
	}
	for _, h := range t.Hosts {
		req.Hosts = append(req.Hosts, &api.RunHost{Name: string(h.Name), Address: h.Address})
	}
	if t.Checkpoints.Restart != nil {
		req.Restart = partCheckpoint(t.Checkpoints.Restart.Of)
	}
	_, err = c.Join(ctx, connect.NewRequest(req))
	return transport.FromWire(err)
}

// End implements task.Peers.
func (p peers) End(ctx context.Context, to task.Host, k spool.TaskKey, abandoned bool, kept task.KeptPart) (task.Share, error) {
	share, _, err := p.end(ctx, to, &api.EndPartRequest{
		Job: string(k.Job), RunCount: uint32(k.Run), Abandoned: abandoned, Kept: api.KeptPart(kept),
	})
	return share, err
}

func (p peers) end(ctx context.Context, to task.Host, req *api.EndPartRequest) (task.Share, bool, error) {
	c, err := p.of(to)
	if err != nil {
		return task.Share{}, false, err
	}
	reply, err := c.End(ctx, connect.NewRequest(req))
	if err != nil {
		return task.Share{}, false, transport.FromWire(err)
	}
	return shareOf(reply.Msg.GetShare()), reply.Msg.GetOver(), nil
}

// Poll implements task.Peers.
func (p peers) Poll(ctx context.Context, to task.Host, k spool.TaskKey) (task.Share, error) {
	c, err := p.of(to)
	if err != nil {
		return task.Share{}, err
	}
	reply, err := c.Poll(ctx, connect.NewRequest(&api.PollPartRequest{Job: string(k.Job), RunCount: uint32(k.Run)}))
	if err != nil {
		return task.Share{}, transport.FromWire(err)
	}
	if !reply.Msg.GetLives() {
		return task.Share{}, pbs.Errorf(pbs.UnknownJob, "%s", reply.Msg.GetWhy())
	}
	return shareOf(reply.Msg.GetShare()), nil
}

// Signal implements task.Peers.
func (p peers) Signal(ctx context.Context, to task.Host, k spool.TaskKey, signal string) error {
	c, err := p.of(to)
	if err != nil {
		return err
	}
	_, err = c.Signal(ctx, connect.NewRequest(&api.SignalPartRequest{Job: string(k.Job), RunCount: uint32(k.Run), Signal: signal}))
	return transport.FromWire(err)
}
