package service

import (
	"context"
	"fmt"
	"time"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// requeueWithin is the server's job_requeue_timeout if it has none.
const requeueWithin = 45 * time.Second

// awaitRequeue waits until the run of a job that is to run again is over. One that takes longer than
// job_requeue_timeout is queued later: the order stays.
func (b *Batch) awaitRequeue(ctx context.Context, name string) error {
	defer transport.Working(ctx)()
	var patience <-chan time.Time
	run := pbs.RunCount(0)
	for {
		changed := b.Replica.Changed()
		v, err := b.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, err)
		}
		j, err := jobOf(v, name)
		if err != nil || !j.Live() || j.LastRun().Ending != state.EndingRerun || run != 0 && !j.Is(run) {
			return nil // it has its order, and is queued, or gone
		}
		if patience == nil {
			timer := time.NewTimer(requeuePatience(v))
			defer timer.Stop()
			patience, run = timer.C, j.LastRun().Number
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, ctx.Err())
		case <-patience:
			return pbs.Errorf(pbs.InternalError, "Response timed out. Job rerun request still in progress for")
		case <-changed:
		}
	}
}

// requeuePatience returns how long qrerun waits.
func requeuePatience(v *state.View) time.Duration {
	if s := v.Server().Seconds("job_requeue_timeout"); s > 0 {
		return time.Duration(s) * time.Second
	}
	return requeueWithin
}
