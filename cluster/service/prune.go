package service

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/alloc"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Prune takes vnodes from a run that is being started, for its mother superior. What is not
// granted is an answer too: hooks decide what follows from it.
func (s *Report) Prune(ctx context.Context, r *connect.Request[api.PruneRequest]) (*connect.Response[api.PruneReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	c := &command.PruneJob{
		Job: pbs.JobID(r.Msg.GetJob()), RunCount: pbs.RunCount(r.Msg.GetRunCount()), Host: caller.Host,
		Keep: r.Msg.GetKeepSelect(), Vnodes: r.Msg.GetVnodes(),
	}
	for _, step := range r.Msg.GetEarlier() {
		c.Earlier = append(c.Earlier, command.PruneStep{Keep: step.GetKeepSelect(), Vnodes: step.GetVnodes()})
	}
	for _, host := range r.Msg.GetBad() {
		c.Bad = append(c.Bad, pbs.HostName(host))
	}
	body, err := bodyHash(r)
	if err != nil {
		return nil, err
	}
	p := command.Proposal{
		ID: requestID(r), Asker: pbs.User{Name: "mom of " + string(caller.Host), Host: caller.Host}, // no user has a name with blanks
		Body: body, Commands: []command.Command{c},
	}
	var reply *connect.Response[api.PruneReply]
	var refused error
	for _, mode := range []cluster.Mode{cluster.Stale, cluster.Fresh} { // only a fresh view can refuse
		v, err := s.Replica.Read(ctx, mode)
		if err != nil {
			return nil, err
		}
		// What was done under this id may be refused now because it was done (L8).
		if first, ok := v.Request(command.Requester(p.Asker), p.ID); ok {
			out := command.Repeated(first, body)
			return s.pruned(ctx, v, c, out.Result, out.Err())
		}
		j, ok := v.Job(c.Job)
		if !ok || !j.Live() || j.Run.MS != caller.Host || caller.Role != transport.RoleMom {
			reply, refused = nil, fmt.Errorf("prune of %s by %s: %w", c.Job, caller.Host, pbs.Refuse(pbs.Unauthorized))
			continue
		}
		if j.LastRun().Release == nil {
			plan, err := command.PlanPrune(v, j, c)
			if err != nil {
				reply, refused = notPruned(v, err)
				continue
			}
			if plan == nil || r.Msg.GetPreview() {
				return connect.NewResponse(pruneReply(j, plan)), nil
			}
		}
		res, err := s.propose(ctx, p)
		return s.pruned(ctx, v, c, res, err)
	}
	return reply, refused
}

// pruned answers when what was proposed is in force, or has come to nothing.
func (s *Report) pruned(ctx context.Context, v *state.View, c *command.PruneJob, res state.Result, err error) (*connect.Response[api.PruneReply], error) {
	if err != nil {
		return notPruned(v, err)
	}
	j, ok := v.Job(c.Job)
	if res.Release != 0 {
		if err := s.awaitJob(ctx, func(v *state.View) (bool, error) {
			if j, ok = v.Job(c.Job); !ok || !j.Is(c.RunCount) {
				return true, pbs.Refuse(pbs.BadState)
			}
			open, err := j.ReleaseOutcome(res.Release)
			return !open, err
		}); err != nil {
			return notPruned(v, err)
		}
	}
	if !ok {
		return notPruned(v, pbs.Refuse(pbs.UnknownJob))
	}
	reply := pruneReply(j, nil)
	reply.Changed, reply.Number = res.Release != 0, j.Releases
	return connect.NewResponse(reply), nil
}

// notPruned returns the answer to what is refused for good; anything else is an error, and asked
// again.
func notPruned(v *state.View, err error) (*connect.Response[api.PruneReply], error) {
	if _, refused := errors.AsType[*pbs.Error](err); !refused {
		if _, short := errors.AsType[*alloc.Unpruned](err); !short {
			return nil, err
		}
	}
	reply := &api.PruneReply{Why: err.Error()}
	if u, ok := errors.AsType[*alloc.Unpruned](err); ok {
		reply.Lines, reply.Detail = u.Lines(v)
	}
	return connect.NewResponse(reply), nil
}

// pruneReply tells what a job has after a pruning, or what it has now.
func pruneReply(j *state.Job, plan *state.Release) *api.PruneReply {
	to := j.Grant()
	if plan != nil {
		to = plan.To
	}
	reply := &api.PruneReply{Granted: true, Changed: plan != nil, Attributes: []*api.Attribute{
		{Name: "exec_vnode", Value: to.ExecVnode.String()}, {Name: "exec_host", Value: to.ExecHost.String()}, {Name: "schedselect", Value: to.SchedSelect},
	}}
	for _, it := range to.Resources {
		reply.Attributes = append(reply.Attributes, &api.Attribute{Name: "Resource_List", Resource: it.Name, Value: it.Value})
	}
	stays := map[pbs.VnodeName]bool{}
	for _, name := range to.ExecVnode.Vnodes() {
		stays[name] = true
	}
	for _, name := range j.LastRun().ExecVnode.Vnodes() {
		if !stays[name] {
			reply.Released = append(reply.Released, string(name))
		}
	}
	return reply
}
