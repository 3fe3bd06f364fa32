package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/hashicorp/raft"
)

// checked is a backend that notices when what it holds is not what was written: bolt
// itself checks nothing but its two meta pages.
type checked struct {
	Backend
	log       *checkedLog
	stable    *checkedStable
	snapshots checkedSnapshots
}

func (s *checked) Log() raft.LogStore            { return s.log }
func (s *checked) Stable() raft.StableStore      { return s.stable }
func (s *checked) Snapshots() raft.SnapshotStore { return s.snapshots }

// openChecked opens a backend whose log, stable store and snapshots have checksums. Log and
// stable store vouch for each other: one that is suddenly empty beside a used one is not taken
// for a new disk.
func openChecked(b Backend) (*checked, error) {
	log, marked, err := openLog(b.Log())
	if err != nil {
		return nil, err
	}
	stable, known, err := openStable(b.Stable())
	if err != nil {
		return nil, err
	}
	snapshots := checkedSnapshots{b.Snapshots()}
	all, err := snapshots.List()
	if err != nil {
		return nil, err
	}
	switch {
	case known && !marked:
		return nil, fmt.Errorf("%w: the log has lost its end mark", ErrDamaged)
	case !known && (log.last.Load() > 0 || len(all) > 0):
		return nil, fmt.Errorf("%w: there are entries or snapshots, and no identity, term and vote", ErrDamaged)
	case !marked:
		err = log.mark(0)
	}
	return &checked{b, log, stable, snapshots}, err
}

// checkedLog puts a checksum into each entry, and into every write how far the log
// reaches: entries that are lost from its end would not be missed otherwise.
type checkedLog struct {
	raft.LogStore
	last atomic.Uint64
}

// markIndex is where the mark lies: in the page that an append changes anyway.
const markIndex = math.MaxUint64

const sumSize = 8

func openLog(store raft.LogStore) (l *checkedLog, marked bool, err error) {
	l = &checkedLog{LogStore: store}
	var mark raft.Log
	switch err := l.GetLog(markIndex, &mark); {
	case errors.Is(err, raft.ErrLogNotFound):
		first, err := l.FirstIndex()
		if err == nil && first > 0 {
			err = fmt.Errorf("%w: the log has lost its end mark", ErrDamaged)
		}
		return l, false, err
	case err != nil:
		return nil, false, fmt.Errorf("end mark of the log: %w", err)
	case len(mark.Data) != 8:
		return nil, false, fmt.Errorf("%w: end mark of the log of %d bytes", ErrDamaged, len(mark.Data))
	}
	l.last.Store(binary.BigEndian.Uint64(mark.Data))
	return l, true, nil
}

func checksum(l *raft.Log, extensions []byte) uint64 {
	var head [17]byte
	binary.BigEndian.PutUint64(head[:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	head[16] = byte(l.Type)
	h := xxhash.New()
	_, _ = h.Write(head[:])
	_, _ = h.Write(l.Data)
	_, _ = h.Write(extensions)
	return h.Sum64()
}

// withChecksum returns a copy of the entry with its checksum; Raft keeps and sends the original.
func withChecksum(l *raft.Log) *raft.Log {
	c := *l
	c.Extensions = binary.BigEndian.AppendUint64(slices.Clip(bytes.Clone(l.Extensions)), checksum(l, l.Extensions))
	return &c
}

func endMark(last uint64) *raft.Log {
	return withChecksum(&raft.Log{Index: markIndex, Data: binary.BigEndian.AppendUint64(nil, last)})
}

func (s *checkedLog) mark(last uint64) error {
	if err := s.LogStore.StoreLogs([]*raft.Log{endMark(last)}); err != nil {
		return err
	}
	s.last.Store(last)
	return nil
}

// StoreLog implements raft.LogStore.
func (s *checkedLog) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (s *checkedLog) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	all := make([]*raft.Log, 0, len(logs)+1)
	for _, l := range logs {
		all = append(all, withChecksum(l))
	}
	last := logs[len(logs)-1].Index
	if err := s.LogStore.StoreLogs(append(all, endMark(last))); err != nil {
		return err
	}
	s.last.Store(last)
	return nil
}

// GetLog implements raft.LogStore. An entry that is not what was stored is an error
// that wraps ErrDamaged.
func (s *checkedLog) GetLog(index uint64, l *raft.Log) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: entry %d: %v", ErrDamaged, index, p)
		}
	}()
	var c raft.Log
	if err := s.LogStore.GetLog(index, &c); err != nil {
		if errors.Is(err, raft.ErrLogNotFound) {
			return err
		}
		return fmt.Errorf("%w: entry %d: %w", ErrDamaged, index, err)
	}
	n := len(c.Extensions) - sumSize
	if n < 0 || c.Index != index || binary.BigEndian.Uint64(c.Extensions[n:]) != checksum(&c, c.Extensions[:n]) {
		return fmt.Errorf("%w: entry %d: its checksum does not match", ErrDamaged, index)
	}
	if c.Extensions = c.Extensions[:n]; n == 0 {
		c.Extensions = nil
	}
	*l = c
	return nil
}

// FirstIndex implements raft.LogStore.
func (s *checkedLog) FirstIndex() (uint64, error) {
	first, err := s.LogStore.FirstIndex()
	if first == markIndex {
		first = 0
	}
	return first, err
}

// LastIndex implements raft.LogStore.
func (s *checkedLog) LastIndex() (uint64, error) { return s.last.Load(), nil }

// DeleteRange implements raft.LogStore. When the end goes, the mark goes first: a
// crash between the two leaves entries behind the mark, which nobody sees.
func (s *checkedLog) DeleteRange(lo, hi uint64) error {
	if last := s.last.Load(); hi >= last && lo <= last {
		first, err := s.FirstIndex()
		if err != nil {
			return err
		}
		before := lo - 1
		if lo <= first {
			before = 0
		}
		if err := s.mark(before); err != nil {
			return err
		}
	}
	return s.LogStore.DeleteRange(lo, hi)
}

// checkedStable keeps all that the stable store holds in one record with a checksum:
// terms and votes of which one is missing cannot be told from a new disk's.
type checkedStable struct {
	store  raft.StableStore
	writes chan struct{} // full: somebody writes; a mutex is not held over I/O
	values atomic.Pointer[map[string][]byte]
}

var keyStable = []byte("RampartStable")

func openStable(store raft.StableStore) (s *checkedStable, known bool, err error) {
	s = &checkedStable{store: store, writes: make(chan struct{}, 1)}
	values := make(map[string][]byte)
	s.values.Store(&values)
	b, err := get(store, keyStable)
	if err != nil || len(b) == 0 {
		return s, false, err
	}
	n := len(b) - sumSize
	if n < 0 || binary.BigEndian.Uint64(b[n:]) != xxhash.Sum64(b[:n]) || json.Unmarshal(b[:n], &values) != nil || values == nil {
		return nil, false, fmt.Errorf("%w: the record of identity, term and vote: its checksum does not match", ErrDamaged)
	}
	return s, true, nil
}

// Set implements raft.StableStore.
func (s *checkedStable) Set(key, value []byte) error {
	s.writes <- struct{}{}
	defer func() { <-s.writes }()
	values := maps.Clone(*s.values.Load())
	values[string(key)] = bytes.Clone(value)
	b, err := json.Marshal(values)
	if err != nil {
		return err
	}
	if err := s.store.Set(keyStable, binary.BigEndian.AppendUint64(b, xxhash.Sum64(b))); err != nil {
		return err
	}
	s.values.Store(&values)
	return nil
}

// Get implements raft.StableStore.
func (s *checkedStable) Get(key []byte) ([]byte, error) {
	value, ok := (*s.values.Load())[string(key)]
	if !ok {
		return nil, errMissing
	}
	return bytes.Clone(value), nil
}

// SetUint64 implements raft.StableStore.
func (s *checkedStable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (s *checkedStable) GetUint64(key []byte) (uint64, error) {
	value, err := s.Get(key)
	if err == nil && len(value) != 8 {
		err = fmt.Errorf("%w: %s is %d bytes", ErrDamaged, key, len(value))
	}
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(value), nil
}
