package cluster

import (
	"context"
	"log/slog"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/pause"
)

// routeRest is between the ticks that route many jobs.
const routeRest = 20 * time.Millisecond

// wakes is a duty of the leader: ticks beside the regular ones, for what is due.
type wakes struct {
	machine Machine
	clock   func() time.Time
	now     func() pbs.Time // of entries
	propose func(command.Entry, ...command.Command) error
	logger  *slog.Logger
}

// run moves the log's time on at the moment when the next job is due that waits for a
// time (qsub -a), or the next reservation begins, ends or looks for other vnodes, so that it does not wait for the next tick; and as long as there are jobs that
// find their way out of a routing queue. It returns when ctx ends.
func (w *wakes) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := w.machine.Changed()
		routing := w.routing()
		if left := w.untilDue(); left > 0 && !routing {
			awaitDue(ctx, changed, left)
			continue
		}
		err := w.propose(command.Entry{Time: w.now()}, &command.TimeTick{})
		if err != nil && ctx.Err() == nil {
			w.logger.Warn("wake jobs that are due", "err", err)
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
func (w *wakes) untilDue() time.Duration {
	v := w.machine.View()
	next := tickEvery
	now := pbs.Time(w.clock().UnixNano())
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
func (w *wakes) routing() bool {
	for q := range w.machine.View().Queues() {
		if q.RouteOn && q.RouteNext != 0 && q.Started && q.Routes() {
			return true
		}
	}
	return false
}
