package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// brokenStable fails every write.
type brokenStable struct{ raft.StableStore }

func (brokenStable) SetUint64([]byte, uint64) error { return errors.New("no space") }

type brokenStores struct{ *Memory }

func (s brokenStores) Stable() raft.StableStore { return brokenStable{s.store} }

func TestGuard_OneFailureFailsAllLaterWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(brokenStores{NewMemory()}, Options{Deadline: time.Second})
		s := guardedStable{g}
		if err := s.Set([]byte("k"), nil); err != nil {
			t.Fatalf("a good write: %v", err)
		}
		if err := s.SetUint64([]byte("k"), 1); !errors.Is(err, ErrFailed) {
			t.Errorf("a bad write: %v", err)
		}
		if err := s.Set([]byte("k"), nil); !errors.Is(err, ErrFailed) {
			t.Errorf("a good write after a bad one: %v", err)
		}
		if err := g.StoreLog(&raft.Log{Index: 1}); !errors.Is(err, ErrFailed) {
			t.Errorf("an entry after a bad write: %v", err)
		}
		if err := s.SetUint64(KeyTerm, 2); err != nil {
			t.Errorf("the term, for which Raft would panic: %v", err)
		}
		<-g.failed
		g.settle()
	})
}

// slowStable writes for so long.
type slowStable struct {
	raft.StableStore
	takes time.Duration
}

func (s slowStable) Set([]byte, []byte) error {
	time.Sleep(s.takes)
	return nil
}

type slowStores struct {
	*Memory
	takes time.Duration
}

func (s slowStores) Stable() raft.StableStore { return slowStable{s.store, s.takes} }

// A write has its second in time in which the process gets to run: it is overdue after one, and
// later only where the watch itself waits for a core, until it is done.
func TestGuard_TellsAStalledDiskFromAStarvedProcess(t *testing.T) {
	const long = time.Hour
	cases := []struct {
		name       string
		takes, lag time.Duration
		silent     time.Duration // after so long; 0: never
	}{
		{"a fast disk", time.Millisecond, 0, 0},
		{"a slow disk", 900 * time.Millisecond, 0, 0},
		{"a stalled disk", long, 0, time.Second},
		{"a starved process", 4 * time.Second, 100 * time.Millisecond, 0},
		{"a process that was stopped", 19 * time.Second, 20 * time.Second, 0},
		{"a starved process with a stalled disk", long, 100 * time.Millisecond, 6 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var began, since time.Time
				overdue := false
				begins := make(chan struct{})
				g := newGuard(slowStores{NewMemory(), c.takes}, Options{Deadline: time.Second, Overdue: func(_ string, at time.Time) func() {
					since, overdue = at, true
					close(begins)
					return func() { overdue = false }
				}})
				g.clock.Lag = c.lag
				began = time.Now()
				done := make(chan error, 1)
				go func() { done <- guardedStable{g}.Set([]byte("k"), nil) }()
				if c.silent > 0 {
					<-begins
					if time.Since(began) != c.silent || !since.Equal(began) {
						t.Errorf("overdue after %s, since %s", time.Since(began), since.Sub(began))
					}
				}
				if err := <-done; err != nil || time.Since(began) != c.takes || g.failure() != nil || overdue {
					t.Errorf("%v after %s; failed: %v; overdue: %t", err, time.Since(began), g.failure(), overdue)
				}
				select {
				case <-begins:
					if c.silent == 0 {
						t.Error("it was overdue")
					}
				default:
				}
			})
		})
	}
}

// A guard that is to end waits for no write that is overdue, and takes none after it.
func TestGuard_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(slowStores{NewMemory(), time.Minute}, Options{Deadline: time.Second})
		began := time.Now()
		time.AfterFunc(3*time.Second, g.end)
		if err := (guardedStable{g}).Set([]byte("k"), nil); !errors.Is(err, ErrFailed) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := g.StoreLog(&raft.Log{Index: 1}); !errors.Is(err, ErrAbandoned) {
			t.Errorf("the next write: %v", err)
		}
		g.writes.Wait()
	})
}

// What the process did not get to run for is not the disk's: it does not make it sick.
func TestGuard_StarvationIsNoSickness(t *testing.T) {
	for _, c := range []struct {
		lag  time.Duration
		sick bool
	}{{0, true}, {400 * time.Millisecond, false}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGuard(slowStores{NewMemory(), 422 * time.Millisecond}, Options{Deadline: time.Second, Logger: discard()})
			g.clock.Lag = c.lag
			for range 40 {
				if err := (guardedStable{g}).Set([]byte("k"), nil); err != nil {
					t.Fatal(err)
				}
			}
			if w := g.took.now(time.Now()); w.Sick != c.sick {
				t.Errorf("with turns late by %s: %+v", c.lag, w)
			}
		})
	}
}

// countingLog notes ranges deleted.
type countingLog struct {
	*raft.InmemStore
	ranges [][2]uint64
}

func (l *countingLog) DeleteRange(lo, hi uint64) error {
	l.ranges = append(l.ranges, [2]uint64{lo, hi})
	return l.InmemStore.DeleteRange(lo, hi)
}

type ofLog struct {
	*Memory
	log raft.LogStore
}

func (o ofLog) Log() raft.LogStore { return o.log }

func TestGuard_DeleteRangeLeavesNoGap(t *testing.T) {
	cases := []struct {
		name   string
		lo, hi uint64
		want   [][2]uint64
	}{
		{"the beginning, from below", 1, 1200, [][2]uint64{{1, 512}, {513, 1024}, {1025, 1200}}},
		{"the end, from above", 1500, 3000, [][2]uint64{{2489, 3000}, {1977, 2488}, {1500, 1976}}},
		{"one", 7, 7, [][2]uint64{{7, 7}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := &countingLog{InmemStore: raft.NewInmemStore()}
			for i := uint64(1); i <= 3000; i++ {
				_ = l.StoreLog(&raft.Log{Index: i})
			}
			g := newGuard(ofLog{NewMemory(), l}, Options{Deadline: time.Minute})
			if err := g.DeleteRange(c.lo, c.hi); err != nil {
				t.Fatal(err)
			}
			if len(l.ranges) != len(c.want) {
				t.Fatalf("deleted %v, want %v", l.ranges, c.want)
			}
			for i := range c.want {
				if l.ranges[i] != c.want[i] {
					t.Errorf("deleted %v, want %v", l.ranges, c.want)
				}
			}
		})
	}
}

func TestOpenFiles_CompactsWhenMostlyFree(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, logFile)
	store := func(fill bool) {
		s, err := OpenFiles(dir, discard())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		log := s.Log()
		if fill {
			for i := uint64(1); i <= 40; i++ {
				if err := log.StoreLog(&raft.Log{Index: i, Data: make([]byte, 512<<10)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := log.DeleteRange(1, 38); err != nil {
				t.Fatal(err)
			}
		}
		var l raft.Log
		if err := log.GetLog(39, &l); err != nil || len(l.Data) != 512<<10 {
			t.Errorf("entry 39: %d bytes, %v", len(l.Data), err)
		}
	}
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	store(true)
	before := size()
	store(false)
	if after := size(); after > before/2 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s", info.Mode())
	}
}

func TestOpenFiles_InUse(t *testing.T) {
	dir := t.TempDir()
	held, err := bbolt.Open(filepath.Join(dir, logFile), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := OpenFiles(dir, discard()); !errors.Is(err, bolterrors.ErrTimeout) {
		t.Errorf("a second process gets %v", err)
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// BenchmarkGuard_Measure is what the instruments add to a write.
func BenchmarkGuard_Measure(b *testing.B) {
	g := newGuard(NewMemory(), Options{Deadline: time.Second, Registry: prometheus.NewRegistry()})
	b.ReportAllocs()
	for b.Loop() {
		g.measure(WriteAppend, time.Millisecond, 0)
	}
}
