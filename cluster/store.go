package cluster

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/fsm/pbs"
)

// Stores hold what a replica must not forget: its log, Raft's votes and terms,
// and its snapshots. OpenFiles keeps them on disk, Memory in memory.
type Stores interface {
	Log() raft.LogStore
	Stable() raft.StableStore
	Snapshots() raft.SnapshotStore
	// Dir is where they are, for people.
	Dir() string
	// Room is how many bytes may still be written.
	Room() (int64, error)
	// Reusable is how many bytes entries may take of what the log has already.
	Reusable() int64
	// SetAside writes a state of the index to where people can look at it, and sees to
	// it that the next open finds no log and no snapshot. It returns where all that is.
	// Nothing is used after it but Close.
	SetAside(index uint64, write func(io.Writer) error) (where string, err error)
	// Note appends to what people find beside them.
	Note(text string) error
	Close() error
}

// keyDisk is in the stable store of every disk, as keyStart and keyKnown are, beside
// Raft's own.
var keyDisk = []byte("RampartDisk")

// serverID returns NAME.DISKID. The disk id is made with the store: an empty disk
// is a new server, that has promised nothing and cannot break a promise (L1).
func serverID(stable raft.StableStore, name pbs.ReplicaName) (raft.ServerID, error) {
	disk, err := get(stable, keyDisk)
	if err != nil {
		return "", fmt.Errorf("read disk id: %w", err)
	}
	if len(disk) == 0 {
		disk = []byte(strings.ToLower(rand.Text()[:10]))
		if err := stable.Set(keyDisk, disk); err != nil {
			return "", fmt.Errorf("make disk id: %w", err)
		}
	}
	return raft.ServerID(string(name) + "." + string(disk)), nil
}

// nameOf returns the replica's name in a ServerID.
func nameOf(id raft.ServerID) pbs.ReplicaName {
	name := string(id)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	return pbs.ReplicaName(name)
}

func get(stable raft.StableStore, key []byte) ([]byte, error) {
	value, err := stable.Get(key)
	if err != nil && !missing(err) {
		return nil, err
	}
	return value, nil
}

// missing tells a key that is not there from a failure. Raft itself knows the
// one from the other by this text only, so every stable store has it.
func missing(err error) bool { return err.Error() == "not found" }
