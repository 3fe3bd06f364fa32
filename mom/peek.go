package mom

import (
	"context"

	"connectrpc.com/connect"

	"rampart/mom/task"
	"rampart/transport/api"
)

// PeekRun shows what a run has written so far: bpeek.
func (m *Mom) PeekRun(ctx context.Context, r *connect.Request[api.PeekRunRequest]) (*connect.Response[api.PeekReply], error) {
	l := m.running()
	if l == nil {
		return nil, connect.NewError(connect.CodeUnavailable, errEnding)
	}
	run := l.task(key(&api.Order{Job: r.Msg.GetJob(), RunCount: r.Msg.GetRunCount()}))
	if run == nil {
		return nil, connect.NewError(connect.CodeUnavailable, errNotHere)
	}
	g, err := task.Peek(ctx, run, r.Msg.GetError(), r.Msg.GetOffset())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.PeekReply{Data: g.Data, Next: g.Next, Apart: g.Apart}), nil
}
