package cluster

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
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
		g := newGuard(brokenStores{NewMemory()}, time.Second)
		s := guardedStable{g}
		if err := s.Set([]byte("k"), nil); err != nil {
			t.Fatalf("a good write: %v", err)
		}
		if err := s.SetUint64([]byte("k"), 1); !errors.Is(err, ErrStore) {
			t.Errorf("a bad write: %v", err)
		}
		if err := s.Set([]byte("k"), nil); !errors.Is(err, ErrStore) {
			t.Errorf("a good write after a bad one: %v", err)
		}
		if err := g.StoreLog(&raft.Log{Index: 1}); !errors.Is(err, ErrStore) {
			t.Errorf("an entry after a bad write: %v", err)
		}
		if err := s.SetUint64(keyCurrentTerm, 2); err != nil {
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

// A write has its second in time in which the process gets to run: the silence for a disk that
// does not answer begins after one, and later only where the watch itself waits for a core. It
// ends with the write, which is good.
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
				g := newGuard(slowStores{NewMemory(), c.takes}, time.Second)
				g.clock.Lag = c.lag
				began, done := time.Now(), make(chan error, 1)
				begins := g.silence.until().Done()
				go func() { done <- guardedStable{g}.Set([]byte("k"), nil) }()
				if c.silent > 0 {
					<-begins
					if since, _ := g.silence.now(); time.Since(began) != c.silent || !since.Equal(began) {
						t.Errorf("silent after %s, since %s", time.Since(began), since.Sub(began))
					}
				}
				if err := <-done; err != nil || time.Since(began) != c.takes || g.failure() != nil || g.silence.kept() {
					t.Errorf("%v after %s; failed: %v; silent: %t", err, time.Since(began), g.failure(), g.silence.kept())
				}
				select {
				case <-begins:
					if c.silent == 0 {
						t.Error("it was silent")
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
		g := newGuard(slowStores{NewMemory(), time.Minute}, time.Second)
		began := time.Now()
		time.AfterFunc(3*time.Second, g.end)
		if err := (guardedStable{g}).Set([]byte("k"), nil); !errors.Is(err, ErrStore) || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := g.StoreLog(&raft.Log{Index: 1}); !errors.Is(err, errAbandoned) {
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
			g := newGuard(slowStores{NewMemory(), 422 * time.Millisecond}, time.Second)
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
			g := &guard{LogStore: l, limit: time.Minute, failed: make(chan struct{})}
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
