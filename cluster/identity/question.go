package identity

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrOldDisk means that the store is an older copy: the cluster knows a later
	// start of it, or has another server in its place. To run on it could break what
	// the later one promised (L1).
	ErrOldDisk = errors.New("this disk is an older copy")

	// ErrTwice means that another process runs under this replica's identity.
	ErrTwice = errors.New("another process runs on a copy of this disk")

	// ErrRemoved means that somebody has taken this replica out of the cluster.
	ErrRemoved = errors.New("this replica was removed from the cluster")

	// ErrExcluded means that the cluster went on without this disk, when a majority was lost.
	// What only this disk has is not part of the cluster's past any more.
	ErrExcluded = errors.New("the cluster went on without this disk")

	// ErrAnew means the same of a disk of which the cluster knows that it was there: the
	// replica sets its stores aside, and begins with empty ones.
	ErrAnew = errors.New("the log of another replica goes on")
)

// A Question is what a voter asks the others before its Raft starts.
type Question struct {
	ServerID string // its own
	Address  string // where it answers
	Start    Start  // that it is about to make
	Decided  bool   // nobody objected and its disk knows of it: remember it
}

// An Answer is what another replica knows of the asking server.
type Answer struct {
	Known      Start  // the latest start of it; zero: none
	ReplacedBy string // the server that took its place; empty: none did
	RunsAt     string // where another process answers under its id; empty: nowhere
	Removed    bool   // somebody has removed it from the cluster
	// Excluded is when the cluster went on without it, after the loss of a majority, and Anew
	// whether it was there then; zero: it did not.
	Excluded time.Time
	Anew     bool
}

// Objection says why a store that knows of its starts up to mine must not be used.
func (a Answer) Objection(mine Start) error {
	switch {
	case a.Removed:
		return ErrRemoved
	case !a.Excluded.IsZero():
		return excludedError(a.Excluded, a.Anew)
	case a.ReplacedBy != "":
		return fmt.Errorf("%w: server %s has taken the place of this one", ErrOldDisk, a.ReplacedBy)
	case a.RunsAt != "":
		return fmt.Errorf("%w: it answers at %s", ErrTwice, a.RunsAt)
	case a.Known.Generation > 0 && a.Known.After(mine):
		return fmt.Errorf("%w: the cluster knows start %d of it, the disk only start %d", ErrOldDisk, a.Known.Generation, mine.Generation)
	}
	return nil
}

// excludedError says to a server what it has to do.
func excludedError(at time.Time, anew bool) error {
	if anew {
		return ErrAnew
	}
	return fmt.Errorf("%w, by a recovery at %s. Move server_priv/raft and server_priv/accounting away and start again: "+
		"this replica then joins as an empty disk and is sent the state", ErrExcluded, at.UTC().Format(time.RFC3339))
}
