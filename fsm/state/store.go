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

// Tx starts a transaction on the present state.
func (s *Store) Tx() *Tx {
	tx := &Tx{tables: s.cur, index: s.index}
	tx.disown()
	return tx
}

// Commit makes the transaction's writes the present state and returns its events.
func (s *Store) Commit(tx *Tx) []Event {
	tx.seal()
	s.cur = tx.tables
	return tx.events
}

// Publish makes the present state what readers see.
func (s *Store) Publish() *View {
	v := &View{tables: s.cur, index: s.index, term: s.term}
	s.view.Store(v)
	return v
}

// Clock returns the greatest time applied so far.
func (s *Store) Clock() pbs.Time { return s.cur.cluster.Time }

// Remembered returns the outcome of a request that the writer's present state
// remembers.
func (s *Store) Remembered(asker pbs.User, id pbs.RequestID) (*Request, bool) {
	return s.cur.Request(asker, id)
}
