package cluster_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster"
	"rampart/cluster/store"
	"rampart/fsm/snapshot"
	"rampart/transport/build"
)

func TestRun_RestartsFromItsFiles(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		m.disk = func() (store.Backend, error) { return store.OpenFiles(dir, quiet()) }
		m.open(true)
		first := m.replica.Self()
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		mustWrite(t, m, "x")
		if _, err := m.replica.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, m, "y")
		if err := m.stop(nil); err != nil {
			t.Fatal(err)
		}
		digest := m.machine.View().Digest()

		m.restart()
		if again := m.replica.Self(); again.ServerID != first.ServerID || again.Generation != first.Generation+1 {
			t.Errorf("identity %s generation %d, before %s generation %d", again.ServerID, again.Generation, first.ServerID, first.Generation)
		}
		mustSee(t, m, "x")
		mustSee(t, m, "y")
		if m.machine.View().Digest() == digest {
			t.Error("the digest does not know the new generation")
		}
	})
}

func TestSnapshot_FollowerIsBroughtUp(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		f := w.followers()[0]
		f.kill()
		for range 2100 { // one entry each: more than the trailing log holds
			if _, err := w.leader().propose("", "x"); err != nil {
				t.Fatal(err)
			}
		}
		saved, err := w.leader().replica.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := snapshot.Read(saved); err != nil {
			t.Errorf("the snapshot cannot be read: %v", err)
		}
		_ = saved.Close()
		f.restart()
		mustSee(t, f, "x")
		w.same()
	})
}

// ledger is synced up to where it is told.
type ledger struct {
	asked atomic.Int32
	free  chan struct{}
}

func (l *ledger) WaitSynced(ctx context.Context, number uint64) error {
	l.asked.Add(1)
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestSnapshot_WaitsForTheLedgerAndApplyGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		l := &ledger{free: make(chan struct{})}
		m.configure = func(c *cluster.Config) { c.Ledger = l }
		m.open(true)
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		taken := make(chan error, 1)
		go func() {
			_, err := m.replica.Snapshot(t.Context())
			taken <- err
		}()
		synctest.Wait()
		mustWrite(t, m, "x")
		select {
		case err := <-taken:
			t.Fatalf("the snapshot did not wait: %v", err)
		default:
		}
		if n := l.asked.Load(); n != 1 {
			t.Errorf("the ledger was asked %d times", n)
		}
		close(l.free)
		if err := <-taken; err != nil {
			t.Error(err)
		}
	})
}

// A tenth of what makes a snapshot due is enough in a calm.
func TestSnapshot_InACalm(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		l := &ledger{free: make(chan struct{})}
		close(l.free)
		m.configure = func(c *cluster.Config) { c.Ledger, c.SnapshotAfter = l, 1000 }
		m.open(true)
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		some := func(n int, every time.Duration) {
			t.Helper()
			for range n {
				mustWrite(t, m, "x")
				time.Sleep(every)
			}
		}
		want := func(n int32, why string) {
			t.Helper()
			if got := l.asked.Load(); got != n {
				t.Errorf("%s: %d snapshots, want %d", why, got, n)
			}
		}
		some(50, 0)
		time.Sleep(time.Minute)
		want(0, "too little was applied")
		some(300, 200*time.Millisecond)
		want(0, "it is not calm")
		time.Sleep(30 * time.Second)
		want(1, "calm")
		time.Sleep(time.Minute)
		want(1, "nothing was applied since")
		some(200, 200*time.Millisecond)
		time.Sleep(30 * time.Second)
		want(2, "calm again")
	})
}

func TestRun_StopsWhileTheLedgerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		m.configure = func(c *cluster.Config) { c.Ledger = &ledger{} }
		m.open(true)
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		go func() { _, _ = m.replica.Snapshot(t.Context()) }()
		synctest.Wait()
		if err := m.stop(nil); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// sickStores hang or fail when told.
type sickStores struct {
	store.Backend
	sick *sickLog
}

func (s sickStores) Log() raft.LogStore { return s.sick }

type sickLog struct {
	raft.LogStore
	hang, fail atomic.Bool
	wake       chan struct{}
}

func (l *sickLog) StoreLogs(logs []*raft.Log) error {
	if l.hang.Load() {
		<-l.wake
	}
	if l.fail.Load() {
		return errors.New("input/output error")
	}
	return l.LogStore.StoreLogs(logs)
}

func TestRun_LeaderWhoseDiskFailsEnds(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m, sick := sickLeader(t, w)
		sick.fail.Store(true)
		began := time.Now()
		if err := m.write("x"); !errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Errorf("the write: %v", err)
		}
		err := <-m.done
		if !errors.Is(err, store.ErrFailed) {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("it took %s to give up", took)
		}
		m.done <- nil
		m.kill()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		mustWrite(t, w.leader(), "y")
	})
}

// An error of a disk that was silent before is one all the same.
func TestRun_LeaderWhoseDiskHangsAndFailsEnds(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		m, sick := stalledLeader(t, w)
		go func() { _ = m.write("x") }()
		time.Sleep(time.Minute)
		sick.fail.Store(true)
		close(sick.wake)
		if err := m.ended(time.Second); !errors.Is(err, store.ErrFailed) {
			t.Errorf("Run: %v", err)
		}
	})
}
