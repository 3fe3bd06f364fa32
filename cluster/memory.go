package cluster

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/hashicorp/raft"
)

// Memory keeps stores in memory, for bubbles. What it holds outlives Close, as a
// disk outlives the process: open it again to restart a replica.
type Memory struct {
	store     *raft.InmemStore
	snapshots *memorySnapshots
}

var _ Stores = (*Memory)(nil)

// NewMemory returns an empty disk.
func NewMemory() *Memory {
	return &Memory{store: raft.NewInmemStore(), snapshots: &memorySnapshots{}}
}

// Log returns the log.
func (m *Memory) Log() raft.LogStore { return m.store }

// Stable returns the votes, terms and identity.
func (m *Memory) Stable() raft.StableStore { return m.store }

// Snapshots returns the snapshots.
func (m *Memory) Snapshots() raft.SnapshotStore { return m.snapshots }

// Close does nothing.
func (m *Memory) Close() error { return nil }

// memorySnapshots keeps the snapshots that were completed. (Raft's own keeps
// the latest that was begun.)
type memorySnapshots struct {
	mu   sync.Mutex
	next int
	kept []*memorySnapshot // newest first
}

type memorySnapshot struct {
	meta raft.SnapshotMeta
	data []byte
}

func (s *memorySnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return &memorySink{store: s, meta: raft.SnapshotMeta{
		Version: version, ID: strconv.Itoa(s.next), Index: index, Term: term,
		Configuration: c, ConfigurationIndex: cIndex,
	}}, nil
}

func (s *memorySnapshots) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*raft.SnapshotMeta
	for _, k := range s.kept {
		meta := k.meta
		all = append(all, &meta)
	}
	return all, nil
}

func (s *memorySnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.meta.ID == id {
			meta := k.meta
			return &meta, io.NopCloser(bytes.NewReader(k.data)), nil
		}
	}
	return nil, nil, fmt.Errorf("open snapshot %s: no such snapshot", id)
}

type memorySink struct {
	store *memorySnapshots
	meta  raft.SnapshotMeta
	buf   bytes.Buffer
	done  bool
}

func (k *memorySink) Write(p []byte) (int, error) { return k.buf.Write(p) }
func (k *memorySink) ID() string                  { return k.meta.ID }

func (k *memorySink) Cancel() error {
	k.done = true
	return nil
}

func (k *memorySink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	k.meta.Size = int64(k.buf.Len())
	k.store.mu.Lock()
	defer k.store.mu.Unlock()
	kept := append(k.store.kept, &memorySnapshot{meta: k.meta, data: k.buf.Bytes()})
	slices.SortStableFunc(kept, func(a, b *memorySnapshot) int {
		return -slices.Compare([]uint64{a.meta.Term, a.meta.Index}, []uint64{b.meta.Term, b.meta.Index})
	})
	k.store.kept = kept[:min(len(kept), snapshotsKept)]
	return nil
}
