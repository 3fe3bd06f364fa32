package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

var (
	// ErrFailed means that a write to the log or the stable store failed. Only a fresh
	// open of the disk can decide what was written, so the process has to end (L12):
	// with exit status 74. A store that is only slow makes the replica silent.
	ErrFailed = errors.New("store failed")

	// ErrDamaged means that the store does not hold what was written to it. It is
	// refused, never used in part: what is missing may have been promised (L1).
	ErrDamaged = errors.New("the store is damaged")

	// ErrAbandoned is the failure of a write that nobody waited for, after Abandon.
	ErrAbandoned = errors.New("not done")
)

// KeyTerm is the key under which Raft keeps its present term in the stable store.
var KeyTerm = []byte("CurrentTerm")

// Options say how a store is to be used. All but Deadline may be left out.
type Options struct {
	// Deadline is how long a write may take, in time in which this process gets to run.
	Deadline time.Duration
	// Overdue is told of a write that takes longer; it returns what to call when the write
	// is done.
	Overdue  func(write string, began time.Time) (done func())
	Logger   *slog.Logger
	Registry prometheus.Registerer // takes the metrics of the writes
}

// filled returns the options with what was left out.
func (o Options) filled() Options {
	if o.Overdue == nil {
		o.Overdue = func(string, time.Time) func() { return func() {} }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Store holds log, stable store and snapshots of one replica.
type Store struct {
	Backend
	checked *checked
	guard   *guard
	log     *recent
	members raft.Configuration
	logger  *slog.Logger

	free atomic.Int64
	low  atomic.Bool

	cramped atomic.Bool
}

// Open reads all of a backend that Raft will build on, before Raft does. What cannot be read
// is refused with an error that wraps ErrDamaged and says what to do.
func Open(b Backend, o Options) (*Store, error) {
	o = o.filled()
	c, err := openChecked(b)
	var members raft.Configuration
	if err == nil {
		members, err = survey(c.log, c.snapshots, o.Logger)
	}
	if err != nil {
		return nil, damaged(err, b.Dir())
	}
	g := newGuard(c, o)
	s := &Store{Backend: b, checked: c, guard: g, log: newRecent(cutLog{g}), members: members, logger: o.Logger}
	s.Look()
	return s, nil
}

// Log returns the log. Its latest entries are read from memory.
func (s *Store) Log() raft.LogStore { return s.log }

// Stable returns the store of votes, terms and records.
func (s *Store) Stable() raft.StableStore { return guardedStable{s.guard} }

// Snapshots returns the snapshots.
func (s *Store) Snapshots() raft.SnapshotStore {
	return roomySnapshots{s.checked.Snapshots(), s.Room, &s.cramped}
}

// Members returns the latest configuration of the cluster that the log had when it was opened.
func (s *Store) Members() raft.Configuration { return s.members }

// Failed returns a channel that is closed at the first write that fails. Every later one fails,
// too.
func (s *Store) Failed() <-chan struct{} { return s.guard.failed }

// Err returns why the store failed, nil if it works.
func (s *Store) Err() error { return s.guard.failure() }

// Abandon makes writes that are overdue, and those that will be, fail: the replica stops, and
// a write may hang in the kernel for ever.
func (s *Store) Abandon() { s.guard.end() }

// Close closes the backend, but not one that has failed: closing a database whose write hangs
// would wait for that write.
func (s *Store) Close() error {
	s.guard.settle()
	if s.guard.failure() != nil {
		return nil
	}
	if err := s.Backend.Close(); err != nil {
		return fmt.Errorf("close stores: %w", err)
	}
	return nil
}

// Damaged returns an error that wraps ErrDamaged and says what to do about it, for damage that
// only Raft has found.
func (s *Store) Damaged(reason error) error {
	return damaged(fmt.Errorf("%w: %w", ErrDamaged, reason), s.Dir())
}

// Get returns what the stable store has under a key, nil if it has nothing.
func (s *Store) Get(key []byte) ([]byte, error) { return get(s.Stable(), key) }

// Load reads a record from the stable store; one that was never saved leaves v as it is.
func (s *Store) Load(key []byte, v any) error {
	b, err := s.Get(key)
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}

// Save writes a record to the stable store.
func (s *Store) Save(key []byte, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		err = s.Stable().Set(key, b)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// Last returns index and term of the last entry of log and snapshots together.
func (s *Store) Last() (index, term uint64, err error) {
	all, err := s.Snapshots().List()
	if err != nil {
		return 0, 0, err
	}
	for _, m := range all {
		if m.Index > index {
			index, term = m.Index, m.Term
		}
	}
	last, err := s.log.LastIndex()
	if err != nil || last <= index {
		return index, term, err
	}
	var l raft.Log
	if err := s.log.GetLog(last, &l); err != nil {
		if errors.Is(err, raft.ErrLogNotFound) {
			err = fmt.Errorf("entry %d has gone meanwhile", last)
		}
		return 0, 0, err
	}
	return l.Index, l.Term, nil
}

// Missing reports whether the error of a stable store means that it has nothing under a key.
// Raft itself tells that from a failure by the text only, so every stable store has it.
func Missing(err error) bool { return err.Error() == "not found" }

func get(stable raft.StableStore, key []byte) ([]byte, error) {
	value, err := stable.Get(key)
	if err != nil && !Missing(err) {
		return nil, err
	}
	return value, nil
}
