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

// runsWithin is how long bstop waits for the programs of what is being started: bjobs shows it as RUN. Hooks of a start may take longer;
// then it is refused, as qsig -s suspend is at once (specification: reservation section 10.5).
// With confirmWithin it stays below what a command waits for one replica.
const runsWithin = 4 * time.Second

// suspend suspends or resumes a job: qsig -s suspend and its kin, which are for Operators
// and Managers only, and bstop and bresume. It waits for the mom, so that what is suspended is seen to be.
func (b *Batch) suspend(ctx context.Context, r *connect.Request[api.SignalRequest]) error {
	patient := r.Msg.GetLsf() && r.Msg.GetSignal() == command.Suspend
	for {
		err := b.suspendNow(ctx, r, patient)
		if _, early := errors.AsType[*starting](err); early {
			patient = false // what starts then has begun since
			if err := b.awaitStarts(ctx, r.Msg.GetJob()); err != nil {
				return err
			}
			continue
		}
		if _, busy := errors.AsType[*underWay](err); !busy {
			return err
		}
		if err := b.awaitRelease(ctx, r.Msg.GetJob()); err != nil {
			return err
		}
	}
}

// awaitStarts waits until no run of a job, or of an array, is about to start, but not for long.
func (b *Batch) awaitStarts(ctx context.Context, job string) error {
	soon, cancel := context.WithTimeout(ctx, runsWithin)
	defer cancel()
	err := b.awaitJob(soon, func(v *state.View) (bool, error) {
		j, err := jobOf(v, job)
		return err != nil || !someStart(v, j), nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// someStart reports whether the program of a job, or of one of an array, is about to start.
func someStart(v *state.View, j *state.Job) bool {
	if j.Array == nil {
		return isStarting(j)
	}
	for one := range v.LiveSubjobs(j) {
		if isStarting(one) {
			return true
		}
	}
	return false
}

// suspendNow proposes it. One that is patient comes to nothing while a program is about to start.
func (b *Batch) suspendNow(ctx context.Context, r *connect.Request[api.SignalRequest], patient bool) error {
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
		if patient && someStart(p.view, j) {
			return nil, &starting{pbs.Refuse(pbs.BadState)}
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
