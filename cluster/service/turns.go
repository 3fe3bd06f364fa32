package service

import (
	"context"
	"sync"

	"rampart/cluster"
	"rampart/fsm/pbs"
)

// turns lets one request after the other judge and propose what becomes of a job's assignment: two that
// looked at the same state would both be proposed, and the second be refused instead of waiting. Requests
// come to the leader alone, so that nothing of it is in the state.
type turns struct {
	mu    sync.Mutex
	taken map[pbs.JobID]chan struct{} // closed when the turn is over
}

func newTurns() *turns { return &turns{taken: map[pbs.JobID]chan struct{}{}} }

// take waits for the turn; done ends it.
func (t *turns) take(ctx context.Context, job pbs.JobID) (done func(), err error) {
	for {
		t.mu.Lock()
		over, taken := t.taken[job]
		if !taken {
			over = make(chan struct{})
			t.taken[job] = over
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.taken, job)
				t.mu.Unlock()
				close(over)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// turnOf waits for the turn of a job, however it is written.
func (c *base) turnOf(ctx context.Context, job string) (done func(), err error) {
	v, err := c.Replica.Read(ctx, cluster.Stale)
	if err != nil {
		return nil, err
	}
	id, err := jobID(v, job)
	if err != nil {
		return func() {}, nil // and is refused
	}
	return c.turns.take(ctx, id)
}
