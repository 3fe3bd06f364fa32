package mom

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/task"
	"rampart/transport/api"
)

// keepLease renews the lease. After renewals that failed the servers may have given the
// host up meanwhile, so the mom registers again.
func (m *Mom) keepLease(ctx context.Context, l *life) {
	missed := false
	for l.untilKnown(ctx) && l.untilDue(ctx, l.nextRenewal(missed)) {
		again, err := m.renew(ctx, l)
		if err != nil && ctx.Err() == nil {
			m.config.Logger.Warn("lease not renewed", "err", err)
			l.endLapsed(ctx) // the shims do, too, if they live
		}
		if errors.Is(err, pbs.Refuse(pbs.UnknownNode)) || err == nil && (again || missed) {
			m.registerAgain()
		}
		missed = err != nil
	}
}

// nextRenewal returns how long to wait before the next renewal. Behind one that failed a host with a short fence does not wait for
// its time: a call that hangs, and one that is late, would leave no room for a third.
func (l *life) nextRenewal(missed bool) time.Duration {
	if seconds := l.fence.held(); missed && seconds > 0 && seconds < shortFence {
		return leaseAgain
	}
	return leaseEvery
}

// renew renews the lease once; again says that the servers want a registration.
func (m *Mom) renew(ctx context.Context, l *life) (again bool, err error) {
	next, err := l.alone(ctx)
	if err != nil {
		return false, err
	}
	defer next()
	ctx, cancel := context.WithTimeout(ctx, leaseEvery)
	defer cancel()
	req := &api.LeaseRequest{
		Host: string(m.config.Host), BootId: m.config.System.BootID(), SpoolId: l.spool.ID(),
		FenceSeconds: l.fence.held(), Trouble: l.trouble(), Unstarted: l.unstarted(),
	}
	req.Proved, req.Trouble = l.proof.tell(req.Trouble)
	req.Load, req.Busy = l.loads.due(time.Now()), l.busy.Load()
	sent := m.config.System.Now()
	reply, err := m.config.Reporter.Lease(ctx, connect.NewRequest(req))
	if err != nil {
		return false, err
	}
	if l.proof.ask(reply.Msg.GetProve()) {
		l.wg.Go(func() { m.prove(l.ctx, l) })
	}
	if l.loads.answered(req.Load, reply.Msg.GetLoad(), time.Now()) {
		l.renewSoon()
	}
	epoch := reply.Msg.GetEpoch()
	again = reply.Msg.GetRegister() || epoch != 0 && epoch != l.spool.Epoch()
	if err = m.renewed(ctx, l, sent, reply.Msg.GetFenceSeconds()); err == nil && reply.Msg.GetFenceSeconds() != req.FenceSeconds {
		l.renewSoon() // the leader counts with the longer one until it knows what is held
	}
	return again || l.lapsed.Load(), err
}

// alone waits until no lease or registration is under way; next lets another one begin.
func (l *life) alone(ctx context.Context) (next func(), err error) {
	select {
	case l.renewing <- struct{}{}:
		return func() { <-l.renewing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// renewed moves the deadline of the shims. If it had passed by now, what ran under it is
// over, and no order is obeyed before the servers have heard what is left.
func (m *Mom) renewed(ctx context.Context, l *life, sent time.Duration, seconds int64) error {
	lapsed, err := l.fence.renew(sent, time.Duration(seconds)*time.Second)
	if !lapsed {
		return err
	}
	if l.known() {
		m.lines.system(pbs.LogSystem, string(m.config.Host), "no server was heard of in time: the jobs that ran are over")
	}
	l.lapsed.Store(true)
	m.registerAgain()
	l.endLapsed(ctx)
	return err
}

// endLapsed ends the tasks whose deadline has passed.
func (l *life) endLapsed(ctx context.Context) {
	ended := l.fence.ended()
	for _, r := range l.all() {
		if r.Task().Lapse >= ended {
			continue
		}
		if err := r.Tell(ctx, task.Lapsed{Now: ended}); err != nil && ctx.Err() == nil {
			l.site.Logger.Error("job not ended behind its fence", "job", r.Task().Key.Job, "err", err)
		}
	}
}

// trouble tells why the host cannot take jobs: the mom goes, or its spool cannot be
// written. A job that is offered to such a host fails, and so would the next one.
func (l *life) trouble() string {
	if l.leaving.Load() {
		return "the mom was stopped"
	}
	if err := l.spool.Probe(); err != nil {
		return "the spool cannot be written: " + err.Error()
	}
	return ""
}
