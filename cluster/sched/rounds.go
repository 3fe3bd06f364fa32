package sched

import (
	"context"
	"sync"
	"time"
)

// Rounds tells who must not be ahead of the scheduler when a cycle has planned with a state: who switches scheduling off stops
// what comes, and not what was queued before, to which a PBS gives its cycle at once. One serves all terms of a process; nil
// lets nobody wait.
type Rounds struct {
	mu     sync.Mutex
	seen   uint64        // the index of the newest state that a cycle has planned with
	over   chan struct{} // closed when another cycle is over
	wanted chan struct{} // somebody waits for the next

	others named[Rounds]
}

// Of returns those of a scheduler: each has its own.
func (r *Rounds) Of(sched string) *Rounds {
	if r == nil || ofDefault(sched) {
		return r
	}
	return r.others.of(sched, NewRounds)
}

// roundPatience bounds the wait for a cycle: a queue that takes long to plan, or no leader's term, must not keep scheduling on.
const roundPatience = time.Second

// NewRounds returns rounds of which none was yet.
func NewRounds() *Rounds { return &Rounds{over: make(chan struct{}), wanted: make(chan struct{}, 1)} }

// Await has the next cycle begin at once, unless one has planned with the state of an index, and returns when one has; not for
// ever.
func (r *Rounds) Await(ctx context.Context, index uint64) {
	if r == nil {
		return
	}
	timer := time.NewTimer(roundPatience)
	defer timer.Stop()
	for {
		seen, over := r.latest()
		if seen >= index {
			return
		}
		select {
		case r.wanted <- struct{}{}:
		default:
		}
		select {
		case <-over:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (r *Rounds) latest() (seen uint64, over <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen, r.over
}

// done notes that a cycle, or a look that found scheduling off, is over which began with the state of an index.
func (r *Rounds) done(index uint64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = max(r.seen, index)
	close(r.over)
	r.over = make(chan struct{})
}

// due is sent to when somebody waits for a cycle.
func (r *Rounds) due() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.wanted
}
