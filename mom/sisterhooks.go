package mom

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
)

// Prologue runs the hooks before the program, and answers when they have ended.
func (s sister) Prologue(ctx context.Context, r *connect.Request[api.ProloguePartRequest]) (*connect.Response[api.ProloguePartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	if err := runner.Tell(ctx, task.Prologue{}); err != nil {
		return nil, err
	}
	t, err := runner.Await(ctx, func(t task.Task) bool { return t.Part.Prologue > task.PrologueAsked || t.Over() })
	switch {
	case err != nil:
		return nil, connect.NewError(connect.CodeUnavailable, err)
	case t.Part.Prologue == task.PrologueFailed:
		return nil, pbs.Errorf(pbs.HookError, "%s: %s", s.config.Host, t.Part.Failure)
	case t.Over():
		return nil, pbs.Refuse(pbs.BadState)
	}
	return connect.NewResponse(&api.ProloguePartReply{}), nil
}

// Prologue implements task.Peers.
func (p peers) Prologue(ctx context.Context, to task.Host, k spool.TaskKey) error {
	c, err := p.of(to)
	if err != nil {
		return err
	}
	_, err = c.Prologue(ctx, connect.NewRequest(&api.ProloguePartRequest{Job: string(k.Job), RunCount: uint32(k.Run)}))
	return transport.FromWire(err)
}

// share returns what the part of a run on this host has used.
func share(t task.Task) *api.Share {
	p := t.Peak
	s := &api.Share{CpuNanos: int64(p.CPU), Rss: p.RSS, Vsize: p.VSize, Percent: p.Percent, Largest: p.Largest}
	for _, u := range t.HookUsed {
		s.Hooked = append(s.Hooked, &api.HookedValue{Resource: u.Resource, Type: u.Type, Value: u.Value})
	}
	return s
}

func shareOf(s *api.Share) task.Share {
	if s == nil { // it is not known any more
		return task.Share{}
	}
	out := task.Share{Peak: task.Peak{CPU: time.Duration(s.GetCpuNanos()), RSS: s.GetRss(), VSize: s.GetVsize(), Percent: s.GetPercent(), Largest: s.GetLargest()}, Hooked: []spool.Used{}}
	for _, u := range s.GetHooked() {
		out.Hooked = append(out.Hooked, spool.Used{Resource: u.GetResource(), Type: u.GetType(), Value: u.GetValue()})
	}
	return out
}

// attachHooks runs execjob_attach before a session becomes the job's.
func (m *Mom) attachHooks(ctx context.Context, t task.Task, pid int) error {
	l := m.running()
	if l == nil {
		return connect.NewError(connect.CodeUnavailable, errEnding)
	}
	err := l.site.Hooks.At(ctx, "execjob_attach", t, pid)
	if errors.Is(err, task.ErrHook) {
		return pbs.Errorf(pbs.HookError, "%v", err)
	}
	return err
}
