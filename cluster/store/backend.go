package store

import (
	"io"

	"github.com/hashicorp/raft"
)

// A Backend keeps what a Store holds: OpenFiles keeps it on disk, Memory in memory.
type Backend interface {
	Log() raft.LogStore
	Stable() raft.StableStore
	Snapshots() raft.SnapshotStore
	// Dir returns where they are, for people.
	Dir() string
	// Room returns how many bytes may still be written.
	Room() (int64, error)
	// Reusable returns how many bytes entries may take of what the log has already.
	Reusable() int64
	// DropOld removes all snapshots but the latest.
	DropOld() error
	// Quarantine writes a state of the index to where people can look at it, and makes the
	// next open find no log and no snapshot. It returns where all that is. Nothing is used
	// after it but Close.
	Quarantine(index uint64, write func(io.Writer) error) (where string, err error)
	// Note appends to a text that people find beside the log.
	Note(text string) error
	Close() error
}
