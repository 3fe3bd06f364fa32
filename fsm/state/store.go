package state

import (
	"sync/atomic"

	"rampart/fsm/pbs"
)

// Store owns the present state. One goroutine, the state machine's, writes;
// anybody may call View.
type Store struct {
	cur   tables
	index uint64
	term  uint64
	stir  uint64
	view  atomic.Pointer[View]
}

// NewStore returns an empty store.
func NewStore() *Store {
	s := &Store{cur: newTables()}
	s.Publish()
	return s
}

// View returns the latest published state.
func (s *Store) View() *View { return s.view.Load() }

// Begin starts the entry at the given index and term. The clock moves to at,
// unless it is there already: time never runs backwards.
func (s *Store) Begin(index, term uint64, at pbs.Time) {
	s.index, s.term = index, term
	if at <= s.cur.cluster.Time {
		return
	}
	tx := s.Tx()
	tx.EditCluster().Time = at
	s.Commit(tx)
}

// Tx starts a transaction on the present state. There is one at a time: what an
// earlier one wrote and did not commit is taken back.
func (s *Store) Tx() *Tx {
	s.settle()
	tx := &Tx{tables: s.cur, index: s.index}
	tx.undo.on = true
	return tx
}

// Stir notes that the entry has changed something for which a scheduler looks at the jobs that wait.
func (s *Store) Stir() { s.stir = s.index }

// Commit makes the transaction's writes the present state and returns its events.
func (s *Store) Commit(tx *Tx) []Event {
	tx.seal()
	s.cur = tx.tables
	s.cur.undo.forget()
	return tx.events
}

// settle takes back what a transaction wrote that was not committed. Its own
// copies are gone with it; trees that were owned before it are the same still.
func (s *Store) settle() { s.cur.undo.run() }

// Publish makes the present state what readers see.
func (s *Store) Publish() *View {
	s.settle()
	for _, j := range s.cur.unhashed {
		s.cur.digest += s.cur.jobs.hash(j)
	}
	s.cur.unhashed = nil
	s.cur.disown()
	v := &View{tables: s.cur, index: s.index, term: s.term, stirred: s.stir}
	s.view.Store(v)
	return v
}

// Clock returns the greatest time applied so far.
func (s *Store) Clock() pbs.Time { return s.cur.cluster.Time }

// RequestFloor returns the time before which request ids were made whose outcomes may have been forgotten early.
func (s *Store) RequestFloor() pbs.Time { return s.cur.cluster.RequestFloor }

// Remembered returns the outcome of a request that the writer's present state
// remembers.
func (s *Store) Remembered(asker pbs.User, id pbs.RequestID) (*Request, bool) {
	s.settle()
	return s.cur.Request(asker, id)
}
