package mom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

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
	reply := &api.DeliverReply{}
	d := &delivery{mom: m, life: l, lapse: lapse, saved: map[uint64]error{}, fresh: map[uint64]*spool.Refusal{}}
	d.runJobs(req.GetOrders())
	var undone error
	below := spool.NoneOpen
	for _, o := range req.GetOrders() {
		if undone != nil && !unsaved(d.saved[o.GetId()]) {
			continue
		}
		a, err := d.answer(ctx, o)
		if err != nil { // not refused, but not done either: it comes again
			undone, below = fmt.Errorf("order %d: %w", o.GetId(), err), o.GetId()
			continue
		}
		reply.Answers = append(reply.Answers, a)
	}
	err := l.spool.Answer(req.GetEpoch(), d.fresh, below)
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
