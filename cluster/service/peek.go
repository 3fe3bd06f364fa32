package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// Peek shows what a job that runs has written so far, to its owner and to operators: bpeek. It is served by any replica.
func (b *Batch) Peek(ctx context.Context, r *connect.Request[api.PeekRequest]) (*connect.Response[api.PeekReply], error) {
	v, err := b.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	p, err := b.person(ctx, v)
	if err != nil {
		return nil, err
	}
	j, err := jobOf(v, r.Msg.GetJob())
	if err != nil {
		return nil, err
	}
	if p.perm < attr.Operator && !p.owns(j) {
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	interactive, _ := j.Attrs.Get("interactive", "")
	if interactive == "True" || !j.Live() || b.Agent == nil {
		return nil, pbs.Refuse(pbs.BadState)
	}
	h, known := v.Host(j.LastRun().MS)
	if !known || h.Address == "" {
		return nil, pbs.Refuse(pbs.BadState)
	}
	reply, err := b.Agent(string(j.LastRun().MS), h.Address).PeekRun(ctx, connect.NewRequest(&api.PeekRunRequest{
		Job: string(j.ID), RunCount: uint32(j.RunCount), Error: r.Msg.GetError(), Offset: r.Msg.GetOffset(),
	}))
	if err != nil {
		return nil, fromMom(err)
	}
	return connect.NewResponse(reply.Msg), nil
}
