package store

import (
	"sync"

	"github.com/hashicorp/raft"
)

// recentEntries and recentBytes bound what of the latest entries stays in memory.
const (
	recentEntries = 512
	recentBytes   = 32 << 20
)

// recent keeps the latest entries of a log in memory, for followers and the state machine
// that read each once more. Unlike raft.LogCache, which counts entries of a MiB each, it bounds
// the bytes, too.
type recent struct {
	raft.LogStore

	mu    sync.RWMutex
	ring  [recentEntries]*raft.Log
	first uint64 // nothing below is kept
	bytes int    // of the data of those that are
}

func newRecent(log raft.LogStore) *recent { return &recent{LogStore: log} }

// GetLog implements raft.LogStore.
func (r *recent) GetLog(index uint64, l *raft.Log) error {
	r.mu.RLock()
	kept := r.ring[index%recentEntries]
	r.mu.RUnlock()
	if kept != nil && kept.Index == index {
		*l = *kept
		return nil
	}
	return r.LogStore.GetLog(index, l)
}

// StoreLog implements raft.LogStore.
func (r *recent) StoreLog(l *raft.Log) error { return r.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore. Only what the disk has is kept.
func (r *recent) StoreLogs(logs []*raft.Log) error {
	if err := r.LogStore.StoreLogs(logs); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range logs {
		if r.bytes == 0 {
			r.first = l.Index
		}
		r.drop(l.Index)
		kept := *l // without the future that Raft has it in
		r.ring[l.Index%recentEntries] = &kept
		r.bytes += len(l.Data)
		if l.Index >= recentEntries {
			r.first = max(r.first, l.Index-recentEntries+1) // what was below has lost its place
		}
		for ; r.bytes > recentBytes && r.first <= l.Index; r.first++ {
			r.drop(r.first)
		}
	}
	return nil
}

// drop makes room where an entry of that index is kept.
func (r *recent) drop(index uint64) {
	at := &r.ring[index%recentEntries]
	if *at != nil {
		r.bytes -= len((*at).Data)
		*at = nil
	}
}

// DeleteRange implements raft.LogStore. It is rare, and nothing is kept over it.
func (r *recent) DeleteRange(lo, hi uint64) error {
	r.mu.Lock()
	clear(r.ring[:])
	r.bytes = 0
	r.mu.Unlock()
	return r.LogStore.DeleteRange(lo, hi)
}
