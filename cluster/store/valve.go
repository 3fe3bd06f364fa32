package store

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// A Valve makes the writes to a backend wait while it is shut, as a disk does whose path is away, or lets them through
// slowly. It is for bubbles. The zero value is open.
type Valve struct {
	mu    sync.Mutex
	kinds []string      // that wait; none: all
	open  chan struct{} // closed when it opens; nil: it is open

	delay time.Duration // of each write; 0: none
	slow  []string      // kinds that are delayed; none: all
}

// Shut makes writes of the kinds wait, of all kinds if none is named.
func (v *Valve) Shut(kinds ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kinds = kinds
	if v.open == nil {
		v.open = make(chan struct{})
	}
}

// Narrow makes each later write of the kinds take so long, of all kinds if none is named.
func (v *Valve) Narrow(delay time.Duration, kinds ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.delay, v.slow = delay, kinds
}

// Open lets through what waits, and later writes at once; not ok if it was open.
func (v *Valve) Open() (ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	ok = v.delay > 0
	v.delay, v.slow = 0, nil
	if v.open == nil {
		return ok
	}
	close(v.open)
	v.open = nil
	return true
}

// Pass returns when a write of the kind may be done.
func (v *Valve) Pass(kind string) {
	v.mu.Lock()
	open := v.open
	if len(v.kinds) > 0 && !slices.Contains(v.kinds, kind) {
		open = nil
	}
	delay := v.delay
	if len(v.slow) > 0 && !slices.Contains(v.slow, kind) {
		delay = 0
	}
	v.mu.Unlock()
	if open != nil {
		<-open
	}
	if delay > 0 {
		<-time.After(delay)
	}
}

// On returns the backend behind the valve.
func (v *Valve) On(b Backend) Backend { return valved{b, v} }

type valved struct {
	Backend
	v *Valve
}

func (s valved) Log() raft.LogStore            { return valvedLog{s.Backend.Log(), s.v} }
func (s valved) Stable() raft.StableStore      { return valvedStable{s.Backend.Stable(), s.v} }
func (s valved) Snapshots() raft.SnapshotStore { return valvedSnapshots{s.Backend.Snapshots(), s.v} }

type valvedLog struct {
	raft.LogStore
	v *Valve
}

func (l valvedLog) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

func (l valvedLog) StoreLogs(logs []*raft.Log) error {
	l.v.Pass(WriteAppend)
	return l.LogStore.StoreLogs(logs)
}

func (l valvedLog) DeleteRange(lo, hi uint64) error {
	l.v.Pass(WriteDelete)
	return l.LogStore.DeleteRange(lo, hi)
}

type valvedStable struct {
	raft.StableStore
	v *Valve
}

func (s valvedStable) Set(key, value []byte) error {
	s.v.Pass(WriteStable)
	return s.StableStore.Set(key, value)
}

func (s valvedStable) SetUint64(key []byte, value uint64) error {
	s.v.Pass(WriteStable)
	return s.StableStore.SetUint64(key, value)
}

type valvedSnapshots struct {
	raft.SnapshotStore
	v *Valve
}

func (s valvedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (raft.SnapshotSink, error) {
	s.v.Pass(WriteSnapshot)
	sink, err := s.SnapshotStore.Create(version, index, term, c, cIndex, t)
	return valvedSink{sink, s.v}, err
}

type valvedSink struct {
	raft.SnapshotSink
	v *Valve
}

func (k valvedSink) Write(p []byte) (int, error) {
	k.v.Pass(WriteSnapshot)
	return k.SnapshotSink.Write(p)
}
