package service

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Peek shows what a job that runs has written so far, to its owner and to operators: bpeek. It is served by any replica.
func (b *Batch) Peek(ctx context.Context, r *connect.Request[api.PeekRequest]) (*connect.Response[api.PeekReply], error) {
	j, address, err := b.looked(ctx, r.Msg.GetJob())
	if err != nil {
		return nil, err
	}
	reply, err := b.Agent(string(j.LastRun().MS), address).PeekRun(ctx, connect.NewRequest(&api.PeekRunRequest{
		Job: string(j.ID), RunCount: uint32(j.RunCount), Error: r.Msg.GetError(), Offset: r.Msg.GetOffset(),
	}))
	if err != nil {
		return nil, fromMom(err)
	}
	return connect.NewResponse(reply.Msg), nil
}

// FollowOutput shows what a job that runs writes until it is over: bpeek -f. It is served by any replica; one that ends has whoever looks come back by another.
func (b *Batch) FollowOutput(ctx context.Context, r *connect.Request[api.FollowOutputRequest], stream *connect.ServerStream[api.OutputPiece]) error {
	j, address, err := b.looked(ctx, r.Msg.GetJob())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopping := transport.Stopping(ctx)
	go func() {
		select {
		case <-stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	pieces, err := b.Agent(string(j.LastRun().MS), address).FollowRun(ctx, connect.NewRequest(&api.FollowRunRequest{
		Job: string(j.ID), RunCount: uint32(j.RunCount), Output: r.Msg.GetOutput(), Error: r.Msg.GetError(),
	}))
	if err != nil {
		return fromMom(err)
	}
	defer pieces.Close()
	for pieces.Receive() {
		if err := stream.Send(pieces.Msg()); err != nil {
			return err
		}
	}
	select {
	case <-stopping:
		return cluster.ErrNotLeader
	default:
	}
	if err := pieces.Err(); err != nil {
		return fromMom(err)
	}
	return nil
}

// looked returns the job that runs at whose output its owner or an operator looks, and where its mom is.
func (b *Batch) looked(ctx context.Context, name string) (*state.Job, string, error) {
	v, err := b.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, "", err
	}
	p, err := b.person(ctx, v)
	if err != nil {
		return nil, "", err
	}
	j, err := jobOf(v, name)
	if err != nil {
		return nil, "", err
	}
	if p.perm < attr.Operator && !p.owns(j) {
		return nil, "", pbs.Refuse(pbs.Unauthorized)
	}
	interactive, _ := j.Attrs.Get("interactive", "")
	if interactive == "True" || !j.Live() || b.Agent == nil {
		return nil, "", pbs.Refuse(pbs.BadState)
	}
	h, known := v.Host(j.LastRun().MS)
	if !known || h.Address == "" {
		return nil, "", pbs.Refuse(pbs.BadState)
	}
	return j, h.Address, nil
}
