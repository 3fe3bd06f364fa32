package state

import "rampart/fsm/pbs"

// A View is the state after one entry. It never changes; any number of
// goroutines may read it. Do not hold one for longer than a request needs: it
// keeps the records of its moment in memory.
type View struct {
	tables
	index uint64
	term  uint64

	stirred uint64
}

// Index returns the index of the last log entry in the view.
func (v *View) Index() uint64 { return v.index }

// Term returns the Raft term of the last log entry in the view.
func (v *View) Term() uint64 { return v.term }

// Stirred returns the index of the last entry with a change for which a scheduler looks at the jobs that wait, 0 if there was none since
// the state was read from a disk. It is no part of the state.
func (v *View) Stirred() uint64 { return v.stirred }

// Now returns the greatest time that the log has told.
func (v *View) Now() pbs.Time { return v.cluster.Time }

// Digest returns the sum of all record hashes: equal on replicas with equal
// index (L4).
func (v *View) Digest() uint64 { return v.digest }
