package mom

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
)

var assignSteps = map[api.ReleaseStep]task.AssignStep{
	api.ReleaseStep_RELEASE_STEP_ASKED:     task.AssignAsked,
	api.ReleaseStep_RELEASE_STEP_DONE:      task.AssignDone,
	api.ReleaseStep_RELEASE_STEP_WITHDRAWN: task.AssignWithdrawn,
}

// releaseNodes puts another assignment in force. What is asked is refused when the disk does not
// take it; what is done or withdrawn is not: it comes again.
func (d *delivery) releaseNodes(ctx context.Context, k spool.TaskKey, order *api.ReleaseNodes) error {
	step, known := assignSteps[order.GetStep()]
	if !known {
		return pbs.Errorf(pbs.NotSupported, "the mom does not know this step of a release")
	}
	ev := task.Assign{Number: order.GetNumber(), Step: step, Attrs: attrs(order.GetAttributes()), Hosts: hostNames(order.GetHosts())}
	err := d.life.tell(ctx, k, ev)
	own, refused := errors.AsType[*pbs.Error](err)
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, context.Canceled):
		return err
	case step == task.AssignAsked && !refused:
		return pbs.Errorf(pbs.SystemError, "%s: %v", d.mom.config.Host, err)
	case step != task.AssignAsked && refused && own.Code == pbs.SystemError:
		return errors.New(err.Error())
	}
	return err
}

func hostNames(hosts []*api.RunHost) []pbs.HostName {
	all := make([]pbs.HostName, len(hosts))
	for i, h := range hosts {
		all[i] = pbs.HostName(h.GetName())
	}
	return all
}

// Update gives this host's part the run's new assignment.
func (s sister) Update(ctx context.Context, r *connect.Request[api.UpdatePartRequest]) (*connect.Response[api.UpdatePartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	ev := task.Assign{
		Number: r.Msg.GetNumber(), Step: task.AssignDone, Attrs: attrs(r.Msg.GetAttributes()), Hosts: hostNames(r.Msg.GetHosts()),
	}
	if err := runner.Tell(ctx, ev); err != nil {
		if _, refused := errors.AsType[*pbs.Error](err); refused {
			return nil, err
		}
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	number := r.Msg.GetNumber()
	t, err := runner.Await(ctx, func(t task.Task) bool { return t.Assignment.Fits(number) || t.Over() })
	switch {
	case err != nil:
		return nil, connect.NewError(connect.CodeUnavailable, err)
	case t.Over():
		return nil, pbs.Refuse(pbs.BadState)
	case t.Assignment.Refusal != "":
		return nil, pbs.Errorf(pbs.HookError, "%s: %s", s.config.Host, t.Assignment.Refusal)
	}
	return connect.NewResponse(&api.UpdatePartReply{}), nil
}

// Update implements task.Peers.
func (p peers) Update(ctx context.Context, to task.Host, t task.Task) error {
	c, err := p.of(to)
	if err != nil {
		return err
	}
	req := &api.UpdatePartRequest{Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), Number: t.Assignment.Number}
	for _, a := range t.Assigned() {
		req.Attributes = append(req.Attributes, &api.Attribute{Name: a.Name, Resource: a.Resource, Value: a.Value})
	}
	for _, name := range t.Assignment.Keep {
		req.Hosts = append(req.Hosts, &api.RunHost{Name: string(name)})
	}
	_, err = c.Update(ctx, connect.NewRequest(req))
	return transport.FromWire(err)
}

// Leave implements task.Peers.
func (p peers) Leave(ctx context.Context, to task.Host, k spool.TaskKey, reported bool) (task.Share, bool, error) {
	return p.end(ctx, to, &api.EndPartRequest{Job: string(k.Job), RunCount: uint32(k.Run), Released: true, Reported: reported})
}

// accounted adds to the answer to a release that is asked what the run, as it was before, has used.
func (d *delivery) accounted(a *api.Answer, before task.Task) {
	if before.State() == task.Running {
		before.Peak.Wall = max(before.Peak.Wall, before.Suspension.Active(d.mom.config.System.Elapsed(before.Handle)))
	}
	a.Used = used(before.Used())
	if before.Assignment.Released() {
		a.Present = used(before.Present())
	}
}
