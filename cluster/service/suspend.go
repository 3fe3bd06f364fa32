package service

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// confirmWithin is how long a suspension waits for the mom's answer. It is an order, and
// takes effect later if the mom is not heard of sooner.
const confirmWithin = 5 * time.Second

// suspend suspends or resumes a job: qsig -s suspend and its kin, which are for Operators
// and Managers only, and bstop and bresume. It waits for the mom, so that what is suspended is seen to be.
func (b *Batch) suspend(ctx context.Context, r *connect.Request[api.SignalRequest]) error {
	for {
		err := b.suspendNow(ctx, r)
		if _, busy := errors.AsType[*underWay](err); !busy {
			return err
		}
		if err := b.awaitRelease(ctx, r.Msg.GetJob()); err != nil {
			return err
		}
	}
}

func (b *Batch) suspendNow(ctx context.Context, r *connect.Request[api.SignalRequest]) error {
	done, err := b.turnOf(ctx, r.Msg.GetJob())
	if err != nil {
		return err
	}
	res, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		j, err := jobOf(p.view, r.Msg.GetJob())
		if err != nil {
			return nil, err
		}
		if p.perm < attr.Operator && !maySuspend(p, j, r.Msg) {
			return nil, denyJob(p, j, typeSignal)
		}
		if j.LastRun().Release != nil { // its assignment is about to change
			return nil, &underWay{pbs.Refuse(pbs.ResourceBusy)}
		}
		return []command.Command{&command.SignalJob{Job: j.ID, Signal: r.Msg.GetSignal()}}, nil
	})
	done()
	if err == nil && res.Order != 0 {
		b.awaitOrder(ctx, res)
	}
	return err
}

// maySuspend reports whether somebody who is no operator may suspend and resume a job: LSF lets its owner (bstop, bresume), whatever the
// job came by (specification: reservation section 10.5). What an operator has suspended by admin-suspend stays suspended.
func maySuspend(p person, j *state.Job, r *api.SignalRequest) bool {
	return r.GetLsf() && p.owns(j) && (r.GetSignal() == command.Suspend || r.GetSignal() == command.Resume)
}

// awaitOrder waits until the mom has confirmed an order, but not for ever.
func (c *base) awaitOrder(ctx context.Context, res state.Result) {
	ctx, cancel := context.WithTimeout(ctx, confirmWithin)
	defer cancel()
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return
		}
		if _, open := v.OpenOrder(res.Host, res.Order); !open {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
