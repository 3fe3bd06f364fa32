// Package patience measures waits in time in which this process gets to run, so that a process that is
// starved of CPU, or stopped, does not take that for the silence of others.
//
// A wait is taken in turns: each sleeps a part of it, and then needs a core. What is waited for needs one
// a few times, too, so whatever is slower than all the turns was not waiting for a core. No turn counts
// for more than its length, however late it comes.
package patience

import (
	"context"
	"time"
)

// Turns is how many there are in a wait.
const Turns = 50

// A Clock makes waits. The zero value is the one to use.
type Clock struct {
	// Lag is how late turns come; tests pretend with it that the process is starved.
	Lag time.Duration
}

// A Wait is one that is under way. It is one goroutine's.
type Wait struct {
	// Turn rings when a turn is over, and is to be answered by Over.
	Turn <-chan time.Time

	timer       *time.Timer
	length, lag time.Duration
	seen        int
	last        time.Time
	late        time.Duration
}

// Begin begins a wait of d, which must be stopped.
func (c Clock) Begin(d time.Duration) *Wait {
	w := &Wait{length: max(d, 0) / Turns, lag: c.Lag, last: time.Now()}
	w.timer = time.NewTimer(w.length + w.lag)
	w.Turn = w.timer.C
	return w
}

// Over reports whether the turn that has rung was the last; if not, the next one begins.
func (w *Wait) Over() bool {
	now := time.Now()
	w.late += now.Sub(w.last) - w.length
	w.last = now
	if w.seen++; w.seen >= Turns {
		return true
	}
	// Not a ticker: after a turn that came late its next one would come too soon.
	w.timer.Reset(w.length + w.lag)
	return false
}

// Late is for how long the process did not get to run at the ends of turns.
func (w *Wait) Late() time.Duration { return w.late }

// Stop ends the wait.
func (w *Wait) Stop() { w.timer.Stop() }

// Sleep waits for d; not ok if ctx ended before.
func (c Clock) Sleep(ctx context.Context, d time.Duration) (ok bool) {
	w := c.Begin(d)
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.Turn:
			if w.Over() {
				return true
			}
		}
	}
}

// WithTimeout is context.WithTimeout, in time in which this process gets to run. Nobody is told the
// deadline, since nobody knows when it is. The context ends with context.DeadlineExceeded as its cause.
func (c Clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.Sleep(ctx, d) {
			cancel(context.DeadlineExceeded)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
