package cluster

import (
	"rampart/cluster/store"
	"rampart/fsm/command"
)

// The bounds in bytes of everything in a replica that grows. Numbers alone bound nothing: 64
// entries are 6 KB of ticks, or more than a disk writes in the time that a store has.
// One write to the log, one call to a follower and what stays in memory of the log are bounded by
// package store. Large job scripts are in none of this: they are blobs (package blob). What is remembered of
// requests is bounded by package state (RequestMost).
const (
	// entryBytes is how much of what waits goes into one entry; one bigger proposal goes alone.
	entryBytes = 1 << 20
	// proposalBytes is the most that one proposal has: a hook's file, and what goes with it.
	proposalBytes = command.MaxHookFile + 64<<10

	// waitingBytes is what waits for group commit, and userWaitingBytes what of that one user
	// has sent: who fills the line does not fill it for the others.
	waitingBytes     = 64 << 20
	userWaitingBytes = waitingBytes / 4

	// snapshotBytes is how much is applied between two snapshots, and trailingBytes what stays
	// in the log behind one, for followers that are a little late; with little room, less.
	snapshotBytes    = store.Low // so that what is left when room is low takes the log of one more
	trailingBytes    = 32 << 20
	lowTrailingBytes = 1 << 20
)
