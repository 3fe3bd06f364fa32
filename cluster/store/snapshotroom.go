package store

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// errCramped is the failure of a snapshot that would take the reserve of the log.
var errCramped = errors.New("no room for a snapshot")

// roomEach is after how many bytes of a snapshot the room is looked at again.
const roomEach = 1 << 20

// A roomySnapshots store gives up a snapshot that would take the reserve: how much it will take is known only when it
// is written, and a log that finds no room ends the replica.
type roomySnapshots struct {
	raft.SnapshotStore
	room    func() (int64, error)
	cramped *atomic.Bool // the last one was given up
}

// Create implements raft.SnapshotStore.
func (s roomySnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, c, cIndex, t)
	if err != nil {
		return nil, err
	}
	return &roomySink{SnapshotSink: sink, store: s, unseen: roomEach}, nil
}

type roomySink struct {
	raft.SnapshotSink
	store  roomySnapshots
	unseen int // bytes since the room was looked at
}

// Write implements io.Writer.
func (k *roomySink) Write(p []byte) (int, error) {
	if k.unseen += len(p); k.unseen >= roomEach {
		free, err := k.store.room()
		if err == nil && free < Reserve+int64(k.unseen) { // what cannot be told is found out by the write
			k.store.cramped.Store(true)
			return 0, fmt.Errorf("%w: %d MiB are left", errCramped, free>>20)
		}
		k.unseen = len(p)
	}
	return k.SnapshotSink.Write(p)
}

// Close implements io.Closer.
func (k *roomySink) Close() error {
	err := k.SnapshotSink.Close()
	if err == nil {
		k.store.cramped.Store(false)
	}
	return err
}

// Cramped reports whether the last snapshot was given up for lack of room.
func (s *Store) Cramped() bool { return s.cramped.Load() }
