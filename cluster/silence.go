package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// errSilent is why nothing is sent and nothing answered while the store does not answer.
var errSilent = errors.New("this replica keeps silent: its store does not answer")

// A silence is what a replica keeps while its store does not answer (L12): it sends and
// answers nothing of Raft's, so that the others elect, and serves nothing. It ends by itself
// when all writes that were overdue are done. One that led among other voters says nothing
// before its Raft has found its lease gone, and so goes on as a follower.
type silence struct {
	logger *slog.Logger       // nil: nobody is told
	count  prometheus.Counter // nil: nobody counts

	since atomic.Pointer[time.Time] // when the first write began that is overdue; nil: there is no silence

	mu     sync.Mutex
	node   *node       // nil: Raft does not run yet
	late   []time.Time // when the writes began that are overdue
	spoken context.Context
	stop   context.CancelFunc // ends spoken
	turn   chan struct{}      // closed when a silence begins or ends
}

func newSilence() *silence {
	s := &silence{turn: make(chan struct{})}
	s.spoken, s.stop = context.WithCancel(context.Background())
	return s
}

// watch has the silence know the Raft that it is about.
func (s *silence) watch(n *node) {
	s.mu.Lock()
	s.node = n
	s.mu.Unlock()
	n.raft.RegisterObserver(raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		if _, ok := o.Data.(raft.RaftState); ok {
			s.settle()
		}
		return false
	}))
	s.settle()
}

// now returns since when the store does not answer; not ok if it does.
func (s *silence) now() (since time.Time, ok bool) {
	if since := s.since.Load(); since != nil {
		return *since, true
	}
	return time.Time{}, false
}

// lasts is for how long the store has not answered; 0: it does.
func (s *silence) lasts() time.Duration {
	since, ok := s.now()
	if !ok {
		return 0
	}
	return time.Since(since)
}

func (s *silence) kept() bool { return s.since.Load() != nil }

// until returns a context that ends when the next silence begins.
func (s *silence) until() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spoken
}

// next returns a channel that is closed when a silence begins or ends.
func (s *silence) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

func (s *silence) turnLocked() {
	close(s.turn)
	s.turn = make(chan struct{})
}

// overdue keeps silent for a write, until the function that it returns is called.
func (s *silence) overdue(write string, began time.Time) (done func()) {
	s.begin(began, write)
	return func() { s.end(began) }
}

// begin notes that a write is overdue.
func (s *silence) begin(began time.Time, what string) {
	n, first := s.add(began)
	if !first {
		return
	}
	if n != nil {
		n.disconnect()
	}
	if s.count != nil {
		s.count.Inc()
	}
	if s.logger != nil {
		s.logger.Error("the store does not answer: this replica is silent until it does", "write", what, "since", began)
	}
}

// add notes a write, and reports whether the silence begins with it.
func (s *silence) add(began time.Time) (n *node, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, began)
	if s.kept() {
		return nil, false
	}
	s.since.Store(&began)
	s.stop()
	s.turnLocked()
	return s.node, true
}

// end notes that a write is done which was overdue.
func (s *silence) end(began time.Time) {
	s.mu.Lock()
	if i := slices.Index(s.late, began); i >= 0 {
		s.late = slices.Delete(s.late, i, i+1)
	}
	s.mu.Unlock()
	s.settle()
}

// settle ends the silence if there is no reason for it any more.
func (s *silence) settle() {
	if since, over := s.lift(); over && s.logger != nil {
		s.logger.Warn("the store answers again: this replica goes on", "after", time.Since(since))
	}
}

// lift ends the silence if there is no reason for it any more, and reports whether it did and since
// when it was kept.
func (s *silence) lift() (since time.Time, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, kept := s.now()
	if !kept || len(s.late) > 0 || s.node != nil && s.node.raft.State() == raft.Leader && len(s.node.otherVoters()) > 0 {
		return time.Time{}, false
	}
	s.since.Store(nil)
	s.spoken, s.stop = context.WithCancel(context.Background())
	s.turnLocked()
	return since, true
}
