package cluster

import (
	"context"
	"fmt"
	"sync"
)

// spell is the present time of leadership: readers learn from it whether this replica leads, and
// since when it may answer.
type spell struct {
	mu      sync.Mutex
	ctx     context.Context // of the spell; nil: we do not lead
	term    uint64          // 0: not started yet
	changed chan struct{}
}

func newSpell() *spell { return &spell{changed: make(chan struct{})} }

func (s *spell) begin(ctx context.Context) { s.change(func() { s.ctx = ctx }) }

func (s *spell) start(term uint64) { s.change(func() { s.term = term }) }

func (s *spell) end() { s.change(func() { s.ctx, s.term = nil, 0 }) }

func (s *spell) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *spell) now() (context.Context, uint64, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx, s.term, s.changed
}

// enter waits until the term of a leader has started, and returns it with a
// context that ends with the term; done releases it.
func (s *spell) enter(ctx context.Context) (_ context.Context, term uint64, done func(), err error) {
	for {
		lead, term, changed := s.now()
		if lead == nil {
			return nil, 0, nil, ErrNotLeader
		}
		if term != 0 {
			joined, cancel := context.WithCancelCause(ctx)
			stop := context.AfterFunc(lead, func() { cancel(ErrNotLeader) })
			return joined, term, func() { stop(); cancel(nil) }, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, nil, fmt.Errorf("%w: term not started: %w", ErrNotLeader, ctx.Err())
		case <-changed:
		}
	}
}
