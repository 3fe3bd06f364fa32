package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/cluster/patience"
)

// guard stands before the log and the stable store and gives every write a time, in which
// this process gets to run. A write that takes longer is waited for, while the replica keeps
// silent (L12): when it is done it has been done, and nobody was told otherwise.
// After the first failure every further write fails: what the disk has written by then, only
// a fresh open of it can tell.
type guard struct {
	raft.LogStore
	stable  raft.StableStore
	limit   time.Duration
	clock   patience.Clock
	logger  *slog.Logger
	overdue func(write string, began time.Time) (done func())

	failed chan struct{} // closed at the first failure
	ended  chan struct{} // closed when nobody waits any more for a write that is overdue
	ending sync.Once     // closes ended
	writes sync.WaitGroup
	took   latencies
	meter  *prometheus.HistogramVec

	mu  sync.Mutex
	err error
}

func newGuard(b Backend, o Options) *guard {
	o = o.filled()
	return &guard{
		LogStore: b.Log(), stable: b.Stable(), limit: o.Deadline, logger: o.Logger, overdue: o.Overdue,
		failed: make(chan struct{}), ended: make(chan struct{}),
		meter: promauto.With(o.Registry).NewHistogramVec(prometheus.HistogramOpts{
			Name: "rampart_store_write_duration_seconds", Buckets: diskBuckets,
			Help: "Time of a write to the log (append, delete) or to Raft's votes and terms (stable), its fsync included.",
		}, []string{"op"}),
	}
}

// diskBuckets, in seconds, end behind the deadline of a write.
var diskBuckets = []float64{.0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2}

// end makes writes that are overdue, and those that will be, fail: the replica stops, and a
// write may hang in the kernel for ever.
func (g *guard) end() { g.ending.Do(func() { close(g.ended) }) }

// failure returns why the store failed, nil if it works.
func (g *guard) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func (g *guard) fail(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = fmt.Errorf("%w: %w", ErrFailed, err)
		close(g.failed)
	}
	return g.err
}

// The kinds of writes. All but WriteSnapshot are the values of a label of the metrics.
const (
	WriteAppend   = "append"
	WriteStable   = "stable"
	WriteDelete   = "delete"
	WriteSnapshot = "snapshot"
)

// measure notes how long a write took, and for how much of that the process did not get
// to run, which is not the disk's doing. Deleting is left out of the latency that is
// watched: it follows a snapshot, in great pieces, and nobody waits for it.
func (g *guard) measure(kind string, took, starved time.Duration) {
	if kind != WriteDelete {
		g.took.note(time.Now(), took-starved)
	}
	g.meter.WithLabelValues(kind).Observe(took.Seconds())
	if took > g.limit {
		g.logger.Warn("a write took long", "kind", kind, "took", took, "starved of processor for", starved)
	}
}

// write does one write, and outwaits it by turns: a write needs a core about ten times, and the
// wait for it fifty times, so one that is slower waits for the disk.
func (g *guard) write(kind, what string, do func() error) error {
	if err := g.failure(); err != nil {
		return err
	}
	began, wait := time.Now(), g.clock.Begin(g.limit)
	defer func() {
		wait.Stop()
		g.measure(kind, time.Since(began), wait.Late())
	}()
	done := make(chan error, 1)
	g.writes.Go(func() { done <- do() })
	for {
		select {
		case err := <-done:
			return g.wrote(what, err)
		case <-wait.Turn:
		}
		if !wait.Over() {
			continue
		}
		select {
		case err := <-done:
			return g.wrote(what, err)
		default:
			return g.outwait(what, began, done)
		}
	}
}

// outwait waits for a write that is overdue. One that fails is never reported as done.
func (g *guard) outwait(what string, began time.Time, written <-chan error) error {
	done := g.overdue(what, began)
	select {
	case err := <-written:
		if err := g.wrote(what, err); err != nil {
			return err
		}
		done()
		return g.failure()
	case <-g.ended:
		return g.fail(fmt.Errorf("%s: %w after %s", what, ErrAbandoned, time.Since(began)))
	}
}

func (g *guard) wrote(what string, err error) error {
	if err != nil {
		return g.fail(fmt.Errorf("%s: %w", what, err))
	}
	return nil
}

// settle waits for writes under way, but not for ever: a write may hang in the
// kernel until the process ends.
func (g *guard) settle() {
	done := make(chan struct{})
	go func() {
		g.writes.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(g.limit):
	}
}

// StoreLog implements raft.LogStore.
func (g *guard) StoreLog(l *raft.Log) error { return g.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (g *guard) StoreLogs(logs []*raft.Log) error {
	return g.write(WriteAppend, "store log", func() error { return g.LogStore.StoreLogs(logs) })
}

// deleteAtOnce bounds one transaction, so that deleting tens of thousands of
// entries after a snapshot keeps the deadline and lets appends through between.
const deleteAtOnce = 512

// DeleteRange implements raft.LogStore. In whatever order it is interrupted, the
// entries that are left have no gap: the beginning of the log goes from below,
// its end from above.
func (g *guard) DeleteRange(lo, hi uint64) error {
	first, err := g.FirstIndex()
	if err != nil {
		return fmt.Errorf("delete range: %w", err)
	}
	for lo <= hi {
		from, to := lo, min(hi, lo+deleteAtOnce-1)
		if lo > first {
			from, to = lo, hi
			if hi-lo >= deleteAtOnce {
				from = hi - deleteAtOnce + 1
			}
		}
		if err := g.write(WriteDelete, "delete range", func() error { return g.LogStore.DeleteRange(from, to) }); err != nil {
			return err
		}
		if lo > first {
			hi = from - 1
		} else {
			lo, first = to+1, to+1
		}
	}
	return nil
}

// guardedStable is the stable store behind a guard.
type guardedStable struct{ g *guard }

var _ raft.StableStore = guardedStable{}

func (s guardedStable) Get(key []byte) ([]byte, error)       { return s.g.stable.Get(key) }
func (s guardedStable) GetUint64(key []byte) (uint64, error) { return s.g.stable.GetUint64(key) }

func (s guardedStable) Set(key, value []byte) error {
	return s.g.write(WriteStable, "store "+string(key), func() error { return s.g.stable.Set(key, value) })
}

// SetUint64 implements raft.StableStore. Raft panics when it cannot save its
// term, which would end the process with another status than it should. The term
// in memory does no harm without the store: no vote is granted and no entry
// taken, since both must be written first.
func (s guardedStable) SetUint64(key []byte, value uint64) error {
	err := s.g.write(WriteStable, "store "+string(key), func() error { return s.g.stable.SetUint64(key, value) })
	if bytes.Equal(key, KeyTerm) && errors.Is(err, ErrFailed) {
		return nil
	}
	return err
}
