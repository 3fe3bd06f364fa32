package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// holdScripts bounds how long a vote that is about to be given keeps proposals that name large scripts
// waiting. A newcomer looks for scripts once a second, and the leader asks it twice a second.
const holdScripts = 3 * time.Second

// A naming counts the proposals that name large scripts while they are on their way, and keeps them
// waiting while a newcomer shows that it has all that is named: then no script is named between what
// it shows and its vote.
type naming struct {
	mu    sync.Mutex
	under int           // on their way
	last  uint64        // no script was named in this term behind this entry
	held  chan struct{} // closed when the hold ends; nil: there is none
	since time.Time     // of the hold
	again bool          // it was asked for since the last look
}

// enter waits for the end of a hold, and counts a proposal until leave is called.
func (s *naming) enter(ctx context.Context) error {
	for {
		s.mu.Lock()
		held := s.held
		if held == nil {
			s.under++
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-held:
		}
	}
}

// leave takes a proposal from the count; it is in no entry behind index.
func (s *naming) leave(index uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
	s.last = max(s.last, index)
}

// hold keeps proposals waiting from now on. ok: none is on its way, and all that were are in entries up to last.
func (s *naming) hold(now time.Time) (last uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held, s.since = make(chan struct{}), now
	}
	s.again = true
	return s.last, s.under == 0
}

// settle ends a hold that nobody asked for since the last look, or that has lasted for too long, and reports the latter.
func (s *naming) settle(now time.Time) (tired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return false
	}
	tired = s.again && now.Sub(s.since) >= holdScripts
	if tired || !s.again {
		s.releaseLocked()
	}
	s.again = false
	return tired
}

// release ends a hold, if there is one.
func (s *naming) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked()
}

func (s *naming) releaseLocked() {
	if s.held != nil {
		close(s.held)
		s.held, s.again = nil, false
	}
}

// namesScript reports whether a proposal gives large scripts to jobs, and which voters it is of whom a majority has them; "":
// that is not known.
func namesScript(p command.Proposal) (voters string, ok bool) {
	for _, c := range p.Commands {
		switch c := c.(type) {
		case *command.SubmitJob:
			if c.Blob != nil {
				return c.Voters, true
			}
		case *command.Restore:
			return "", true
		}
	}
	return "", false
}

// enterNaming lets a proposal pass. One that names large scripts waits while a vote is about to be given, and the
// voters must be those of whom a majority has stored them. leave is to be called with what came of it.
func (p *proposals) enterNaming(ctx context.Context, what command.Proposal) (leave func(error), err error) {
	voters, ok := namesScript(what)
	if !ok {
		return func(error) {}, nil
	}
	if err := p.naming.enter(ctx); err != nil {
		return nil, fmt.Errorf("propose: %w: %w", ErrNotLeader, err)
	}
	leave = func(err error) {
		index := p.machine.View().Index()
		if n := p.raft.node.Load(); n != nil && errors.Is(err, ErrOutcomeUnknown) {
			index = n.raft.LastIndex()
		}
		p.naming.leave(index)
	}
	if voters != "" && voters != p.raft.voters() {
		leave(nil)
		return nil, fmt.Errorf("propose: %w: the voters have changed since a majority of them stored the script", ErrNotLeader)
	}
	return leave, nil
}

// hasScripts reports whether a newcomer that is stable has all large scripts that any entry names, and that none
// is named before it has its vote: until the hold ends. Otherwise a majority that it is part of would not have what a
// majority was to have; status tells of it.
func (m *membership) hasScripts(n *node, k *member.Roll, a member.Answer) bool {
	if namesBlobs(m.machine.View()) && !k.Whole(a, n.raft.CommitIndex()) {
		return false
	}
	last, quiet := m.proposals.naming.hold(time.Now())
	v := m.machine.View()
	return quiet && (last <= v.Index() && !namesBlobs(v) || a.Status.Scripts.Whole(last))
}

func namesBlobs(v *state.View) bool {
	for range v.Blobs() {
		return true
	}
	return false
}
