package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rampart/fsm/state"
)

// Mode says what a read promises.
type Mode uint8

const (
	// Fresh reads are linearizable: they see all that was acknowledged, by any
	// replica, before they began.
	Fresh Mode = iota
	// Stale reads cost no round trip and see the past; Age tells how far back.
	Stale
)

const (
	// roundLimit bounds one round, so that a leader that hangs is given up when the
	// next one can be there.
	roundLimit = 500 * time.Millisecond
	// readPatience bounds how long a fresh read outwaits an election; readPause is
	// the wait between two rounds.
	readPatience = 3 * time.Second
	readPause    = 20 * time.Millisecond
)

// reads is the way to the state: what was acknowledged before a read began is in what it sees.
type reads struct {
	raft    *localRaft
	machine Machine
	peers   Peers
	spell   *spell
	silence *silence
	pace    pace
	clock   func() time.Time

	fresh *rounds // of the readers here
	local *rounds // at the leader, for all replicas
}

// newReads adds the rounds, of which the meter counts the leader's.
func newReads(m *meter, r reads) *reads {
	limit := r.pace.far(roundLimit)
	r.fresh, r.local = newRounds(limit, r.askIndex), newRounds(limit, m.round(r.confirmIndex))
	return &r
}

// end answers all that wait, and those that come later.
func (r *reads) end() {
	r.fresh.end()
	r.local.end()
}

// view is Replica.Read.
func (r *reads) view(ctx context.Context, mode Mode) (*state.View, error) {
	if mode == Stale {
		return r.machine.View(), nil
	}
	index, err := r.freshIndex(ctx)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if v := r.machine.View(); v.Index() >= index {
		return v, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.silence.until(), func() { cancel(errSilent) })()
	view, err := r.machine.Wait(ctx, index)
	if errors.Is(context.Cause(ctx), errSilent) {
		return nil, fmt.Errorf("read: %w: %w", ErrNotLeader, errSilent)
	}
	if err != nil {
		return nil, fmt.Errorf("read: wait for index %d: %w", index, err)
	}
	return view, nil
}

func (r *reads) freshIndex(ctx context.Context) (uint64, error) {
	until := time.Now().Add(r.pace.far(readPatience))
	for {
		index, err := r.fresh.wait(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, errStopped) || time.Now().After(until) {
			return index, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(readPause):
		}
	}
}

// askIndex is one round for the readers of this replica: what index must they
// wait for?
func (r *reads) askIndex(ctx context.Context) (uint64, error) {
	addr, self, ok := r.raft.leader()
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: no leader is known", ErrNotLeader)
	case self:
		return r.local.wait(ctx)
	}
	index, _, err := r.peers.ReadIndex(ctx, addr)
	if err != nil {
		return 0, fmt.Errorf("%w: ask %s: %w", ErrNotLeader, addr, err)
	}
	return index, nil
}

// index answers a follower: which index has a read to wait for that began
// before the call? Only a leader in its started term answers.
func (r *reads) index(ctx context.Context) (index, term uint64, err error) {
	if index, err = r.local.wait(ctx); err != nil {
		return 0, 0, err
	}
	return index, r.raft.term(), nil
}

// confirmIndex is one round at the leader, in the order that makes it right:
// first the commit index, then proof that we lead, then the check that it is
// still the term whose TermStarted the state has seen. In that term every
// committed index is one that the state reaches: no-ops come before TermStarted.
func (r *reads) confirmIndex(ctx context.Context) (uint64, error) {
	n := r.raft.node.Load()
	if n == nil || n.silence.kept() {
		return 0, ErrNotLeader
	}
	ctx, term, done, err := r.spell.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	mark := n.transport.mark()
	index := n.raft.CommitIndex()
	if err := r.raft.await(ctx, n, n.raft.VerifyLeader()); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	if err := n.transport.wait(ctx, n.otherVoters(), n.quorum()-1, term, mark); err != nil {
		return 0, fmt.Errorf("%w: confirm leadership: %w", ErrNotLeader, err)
	}
	if !n.leads(term) {
		return 0, fmt.Errorf("%w: term %d is over", ErrNotLeader, term)
	}
	return index, nil
}

// age tells how far back a stale read may lie: the time since this replica heard
// of its leader, 0 at a leader. Before the first contact it is the time since the
// last entry.
func (r *reads) age() time.Duration {
	n := r.raft.node.Load()
	if n != nil && n.isLeader() {
		return 0
	}
	if n != nil {
		if last := n.raft.LastContact(); !last.IsZero() {
			return time.Since(last)
		}
	}
	return max(0, r.clock().Sub(time.Unix(0, int64(r.machine.View().Now()))))
}

var errStopped = fmt.Errorf("%w: the replica stops", ErrNotLeader)

// rounds lets concurrent reads share one question. A read joins the round that
// has not begun yet, never the one under way: that one may have looked before
// the read began.
type rounds struct {
	limit time.Duration // of one round
	ask   func(ctx context.Context) (uint64, error)
	wake  chan struct{}

	mu    sync.Mutex
	next  *round // has not begun; nil: nobody waits
	ended bool
}

type round struct {
	done  chan struct{} // closed when the two below are set
	index uint64
	err   error
}

func newRounds(limit time.Duration, ask func(context.Context) (uint64, error)) *rounds {
	return &rounds{limit: limit, ask: ask, wake: make(chan struct{}, 1)}
}

// wait returns the answer of a round that begins after the call.
func (s *rounds) wait(ctx context.Context) (uint64, error) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return 0, errStopped
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
		s.wake <- struct{}{} // there is room: the last wake was taken with its round
	}
	r := s.next
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-r.done:
		return r.index, r.err
	}
}

// run asks one round after the other while somebody waits, until ctx ends.
func (s *rounds) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.end()
			return
		case <-s.wake:
		}
		s.mu.Lock()
		r := s.next
		s.next = nil
		s.mu.Unlock()
		limited, cancel := context.WithTimeout(ctx, s.limit)
		r.index, r.err = s.ask(limited)
		cancel()
		close(r.done)
	}
}

func (s *rounds) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.next != nil {
		s.next.err = errStopped
		close(s.next.done)
	}
}
