package cluster

import (
	"context"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// wake moves the log's time on at the moment when the next job is due that waits for a
// time (qsub -a), so that it does not wait for the next tick. It returns when ctx ends.
func (r *Replica) wake(ctx context.Context) {
	for ctx.Err() == nil {
		changed := r.cfg.Machine.Changed()
		if left := r.untilDue(); left > 0 {
			awaitDue(ctx, changed, left)
			continue
		}
		err := r.proposeAlone(command.Entry{Time: r.batch.now()}, &command.TimeTick{})
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("wake jobs that are due", "err", err)
		}
		rest(ctx, retryEvery)
	}
}

// awaitDue waits for the time that is left, or for a change, which may bring a job that is
// due earlier: of a busy cluster ten times a second.
func awaitDue(ctx context.Context, changed <-chan struct{}, left time.Duration) {
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-changed:
		rest(ctx, min(left, retryEvery))
	}
}

// untilDue returns how long it is until the first job is due, not above tickEvery.
func (r *Replica) untilDue() time.Duration {
	for j := range r.cfg.Machine.View().Due() {
		left := time.Duration(j.ExecAt - pbs.Time(r.cfg.Clock().UnixNano()))
		return max(0, min(left, tickEvery))
	}
	return tickEvery
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
