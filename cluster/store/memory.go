package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/hashicorp/raft"
)

// Memory is a backend in memory, for bubbles. What it holds outlives Close, as a
// disk outlives the process: open it again to restart a replica.
type Memory struct {
	store     *memoryStore
	snapshots *memorySnapshots
	aside     []byte
	notes     string
}

var _ Backend = (*Memory)(nil)

// NewMemory returns an empty disk.
func NewMemory() *Memory {
	return &Memory{
		store:     &memoryStore{logs: make(map[uint64]*raft.Log), values: make(map[string][]byte)},
		snapshots: &memorySnapshots{},
	}
}

// Copy returns a disk with the same content, as a backup holds it.
func (m *Memory) Copy() *Memory {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	m.snapshots.mu.Lock()
	defer m.snapshots.mu.Unlock()
	return &Memory{
		store: &memoryStore{
			logs: maps.Clone(m.store.logs), first: m.store.first, last: m.store.last, values: maps.Clone(m.store.values),
		},
		snapshots: &memorySnapshots{next: m.snapshots.next, kept: slices.Clone(m.snapshots.kept)},
	}
}

// Log returns the log.
func (m *Memory) Log() raft.LogStore { return m.store }

// Stable returns the votes, terms and identity.
func (m *Memory) Stable() raft.StableStore { return m.store }

// Snapshots returns the snapshots.
func (m *Memory) Snapshots() raft.SnapshotStore { return m.snapshots }

// Close does nothing.
func (m *Memory) Close() error { return nil }

// Dir implements Backend.
func (m *Memory) Dir() string { return "memory" }

// Room implements Backend.
func (m *Memory) Room() (int64, error) { return math.MaxInt64, nil }

// Reusable implements Backend.
func (m *Memory) Reusable() int64 { return 0 }

// DropOld implements Backend.
func (m *Memory) DropOld() error {
	m.snapshots.mu.Lock()
	defer m.snapshots.mu.Unlock()
	m.snapshots.kept = m.snapshots.kept[:min(1, len(m.snapshots.kept))]
	return nil
}

// Quarantine empties the disk; of what was on it, it keeps the state.
func (m *Memory) Quarantine(index uint64, write func(io.Writer) error) (string, error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return "", err
	}
	empty := NewMemory()
	m.store, m.snapshots, m.aside = empty.store, empty.snapshots, b.Bytes()
	return fmt.Sprintf("memory, as of index %d", index), nil
}

// Note implements Backend.
func (m *Memory) Note(text string) error {
	m.notes += text
	return nil
}

// Notes returns what was noted.
func (m *Memory) Notes() string { return m.notes }

// Quarantined returns the state that was set aside last, nil if none was.
func (m *Memory) Quarantined() []byte { return m.aside }

// memoryStore is log and stable store. What was put into it is never changed, only
// replaced.
type memoryStore struct {
	mu          sync.Mutex
	logs        map[uint64]*raft.Log
	first, last uint64
	values      map[string][]byte
}

var (
	_ raft.LogStore    = (*memoryStore)(nil)
	_ raft.StableStore = (*memoryStore)(nil)
)

func (s *memoryStore) FirstIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first, nil
}

func (s *memoryStore) LastIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, nil
}

func (s *memoryStore) GetLog(index uint64, l *raft.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.logs[index]
	if !ok {
		return raft.ErrLogNotFound
	}
	*l = *found
	return nil
}

func (s *memoryStore) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

func (s *memoryStore) StoreLogs(logs []*raft.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range logs {
		kept := *l
		s.logs[l.Index] = &kept
		s.include(l.Index)
	}
	return nil
}

func (s *memoryStore) DeleteRange(lo, hi uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.logs {
		if i >= lo && i <= hi {
			delete(s.logs, i)
		}
	}
	s.first, s.last = 0, 0
	for i := range s.logs {
		s.include(i)
	}
	return nil
}

func (s *memoryStore) include(index uint64) {
	if s.last == 0 {
		s.first = index
	}
	s.first, s.last = min(s.first, index), max(s.last, index)
}

var errMissing = errors.New("not found") // see Missing

func (s *memoryStore) Set(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[string(key)] = bytes.Clone(value)
	return nil
}

func (s *memoryStore) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[string(key)]
	if !ok {
		return nil, errMissing
	}
	return bytes.Clone(value), nil
}

func (s *memoryStore) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

func (s *memoryStore) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err != nil || len(value) != 8 {
		return 0, err
	}
	return binary.BigEndian.Uint64(value), nil
}

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
	// Of those of one index the latest is the newest: it may be about to be read.
	kept := append([]*memorySnapshot{{meta: k.meta, data: k.buf.Bytes()}}, k.store.kept...)
	slices.SortStableFunc(kept, func(a, b *memorySnapshot) int {
		return -slices.Compare([]uint64{a.meta.Term, a.meta.Index}, []uint64{b.meta.Term, b.meta.Index})
	})
	k.store.kept = kept[:min(len(kept), snapshotsKept)]
	return nil
}
