package sched

import (
	"context"
	"sync"
	"time"
)

// Turns lets one at a time plan with what is free: a cycle of the scheduler, or qrun while others make way for the job
// that it starts, which a cycle would else give to somebody else. One serves all terms of a process; nil lets all plan.
type Turns struct{ taken chan struct{} }

// turnPatience bounds the wait for a turn: a mom that does not answer must not stop the scheduler.
const turnPatience = 5 * time.Second

// NewTurns returns turns that nobody has taken.
func NewTurns() *Turns { return &Turns{make(chan struct{}, 1)} }

// Take waits for the turn, not for ever: then it goes without. What it returns gives the turn back.
func (t *Turns) Take(ctx context.Context) (end func()) {
	if t == nil {
		return func() {}
	}
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case t.taken <- struct{}{}:
		return sync.OnceFunc(func() { <-t.taken })
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() {}
}
