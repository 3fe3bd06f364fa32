package cluster

import (
	"context"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/pause"
)

// routeRest is between the ticks that route many jobs.
const routeRest = 20 * time.Millisecond

// wake moves the log's time on at the moment when the next job is due that waits for a
// time (qsub -a), or the next reservation begins, ends or looks for other vnodes, so that it does not wait for the next tick; and as long as there are jobs that
// find their way out of a routing queue. It returns when ctx ends.
func (r *Replica) wake(ctx context.Context) {
	for ctx.Err() == nil {
		changed := r.cfg.Machine.Changed()
		routing := r.routing()
		if left := r.untilDue(); left > 0 && !routing {
			awaitDue(ctx, changed, left)
			continue
		}
		err := r.proposals.alone(command.Entry{Time: r.proposals.batch.now()}, &command.TimeTick{})
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("wake jobs that are due", "err", err)
		}
		if err == nil && routing {
			pause.For(ctx, routeRest)
			continue
		}
		pause.For(ctx, retryEvery)
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
		pause.For(ctx, min(left, retryEvery))
	}
}

// untilDue returns how long it is until the first job or reservation is due, not above tickEvery.
func (r *Replica) untilDue() time.Duration {
	v := r.cfg.Machine.View()
	next := tickEvery
	now := pbs.Time(r.cfg.Clock().UnixNano())
	for j := range v.Due() {
		next = min(next, time.Duration(j.ExecAt-now))
		break
	}
	if at, ok := v.NextReservation(); ok {
		next = min(next, time.Duration(at-now))
	}
	for res := range v.Reservations() {
		if res.Retry > v.Now() { // once the log's time is there it is the scheduler's
			next = min(next, time.Duration(res.Retry-now))
		}
	}
	return max(0, next)
}

// routing reports whether the next jobs of a routing queue need not wait for their turn.
func (r *Replica) routing() bool {
	for q := range r.cfg.Machine.View().Queues() {
		if q.RouteOn && q.RouteNext != 0 && q.Started && q.Routes() {
			return true
		}
	}
	return false
}
