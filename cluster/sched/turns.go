package sched

import (
	"context"
	"sync"
	"time"
)

// Turns is a lock on the free resources: one at a time plans with them, a cycle of the scheduler, or qrun while others make way for the job
// that it starts, whose room a cycle would otherwise give away. One serves all terms of a process; nil lets all plan. Each scheduler has
// Turns of its own, since none plans with what is another's. (The dispatch turns of jobs that reserve are another subject: reserving.)
type Turns struct {
	taken  chan struct{}
	others named[Turns]
}

// Of returns those of a scheduler.
func (t *Turns) Of(sched string) *Turns {
	if t == nil || ofDefault(sched) {
		return t
	}
	return t.others.of(sched, NewTurns)
}

// turnPatience bounds the wait for a turn: a mom that does not answer must not stop the scheduler.
const turnPatience = 5 * time.Second

// NewTurns returns turns that nobody has taken.
func NewTurns() *Turns { return &Turns{taken: make(chan struct{}, 1)} }

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
