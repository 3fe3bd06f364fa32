package mom

import (
	"context"

	"connectrpc.com/connect"

	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
)

// looks shows what runs of this host write.
type looks struct{ running func() *life }

// PeekRun shows what a run has written so far: bpeek.
func (m looks) PeekRun(ctx context.Context, r *connect.Request[api.PeekRunRequest]) (*connect.Response[api.PeekReply], error) {
	_, run, err := m.seen(r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	g, err := task.Peek(ctx, run, r.Msg.GetError(), r.Msg.GetOffset())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.PeekReply{Data: g.Data, Next: g.Next, Apart: g.Apart}), nil
}

// FollowRun shows what a run writes until all of its processes are gone: bpeek -f.
func (m looks) FollowRun(ctx context.Context, r *connect.Request[api.FollowRunRequest], stream *connect.ServerStream[api.OutputPiece]) error {
	l, run, err := m.seen(r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, end := range []<-chan struct{}{l.ctx.Done(), transport.Stopping(ctx)} {
		go func() {
			select {
			case <-end:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	if err := stream.Send(&api.OutputPiece{Next: r.Msg.GetOutput()}); err != nil { // it was found
		return err
	}
	err = task.Follow(ctx, run, r.Msg.GetOutput(), r.Msg.GetError(), func(p task.Piece) error {
		return stream.Send(&api.OutputPiece{Error: p.Failure, Data: p.Data, Next: p.Next})
	})
	if ctx.Err() != nil {
		return connect.NewError(connect.CodeUnavailable, errEnding)
	}
	return err
}

// seen returns a run of this host that somebody wants to look at.
func (m looks) seen(job string, run uint32) (*life, *task.Runner, error) {
	l := m.running()
	if l == nil {
		return nil, nil, connect.NewError(connect.CodeUnavailable, errEnding)
	}
	r := l.task(key(&api.Order{Job: job, RunCount: run}))
	if r == nil {
		return nil, nil, connect.NewError(connect.CodeUnavailable, errNotHere)
	}
	return l, r, nil
}
