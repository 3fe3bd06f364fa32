package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rampart/cluster"
)

func TestRead_SharesRounds(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		f, before := w.followers()[0], w.leader().asked.Load()
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { mustSee(t, f, "x") })
		}
		wg.Wait()
		if n := w.leader().asked.Load() - before; n < 1 || n > 3 {
			t.Errorf("200 reads at once asked the leader %d times", n)
		}
	})
}

// Each read begins after a write was acknowledged, and must see it, wherever
// both happened, across a failover, too.
func TestRead_SeesWhatWasAcknowledged(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		for i := range 60 {
			name := fmt.Sprint("x", i)
			if i == 20 {
				w.leader().kill()
				w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
			}
			mustWrite(t, w.leader(), name)
			for _, m := range w.members {
				if m.done != nil {
					mustSee(t, m, name)
				}
			}
		}
	})
}

func TestRead_AtADeposedLeader(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old := w.leader()
		w.isolate(old)
		for range 100 { // before, while and after the others elect
			seen := w.leader()
			if seen != nil && seen != old {
				mustWrite(t, seen, "new")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			v, err := old.replica.Read(ctx, cluster.Fresh)
			cancel()
			if err != nil {
				continue
			}
			if _, ok := v.Replica("new"); !ok && seen != nil && seen != old {
				t.Fatal("a deposed leader answered with the past")
			}
		}
		if _, err := old.replica.Read(t.Context(), cluster.Fresh); !errors.Is(err, cluster.ErrNotLeader) {
			t.Errorf("cut off, it answers %v", err)
		}
		if _, err := old.replica.Read(t.Context(), cluster.Stale); err != nil || old.replica.Age() < time.Second {
			t.Errorf("stale: %v, age %s", err, old.replica.Age())
		}
		w.net.HealAll()
		mustSee(t, old, "new")
	})
}

func TestRead_OutwaitsAnElection(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		f := w.followers()[0]
		w.leader().kill()
		mustSee(t, f, "x")
	})
}

func TestRead_WaitsForAFollowerThatLags(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		f := w.followers()[0]
		w.net.Delay(string(f.name), string(w.leader().name), 40*time.Millisecond)
		for i := range 10 {
			name := fmt.Sprint("x", i)
			mustWrite(t, w.leader(), name)
			mustSee(t, f, name)
		}
	})
}

// Nothing is written after the election: the new leader's own first command must be
// enough for every replica to answer, and to answer with all that was acknowledged.
func TestRead_OnAnIdleClusterAfterAnElection(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		old := w.leader()
		old.kill()
		for _, m := range w.members {
			if m != old {
				mustSee(t, m, "x") // outwaits the election
			}
		}
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		for range 20 {
			for _, m := range w.members {
				if m != old {
					mustSee(t, m, "x")
				}
			}
		}
	})
}

// Readers at every replica go on while leadership is handed around: each read that
// begins after an acknowledgement sees it.
func TestRead_DuringTransfers(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		var acked atomic.Int64
		mustWrite(t, w.leader(), "x0")
		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for _, m := range w.members {
			readers.Go(func() {
				for ctx.Err() == nil {
					mustSee(t, m, fmt.Sprint("x", acked.Load()))
				}
			})
		}
		terms := map[uint64]bool{}
		for i := range int64(40) {
			l := w.leader()
			if l == nil {
				w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
				l = w.leader()
			}
			terms[l.replica.Term()] = true
			if err := l.write(fmt.Sprint("x", i+1)); err == nil {
				acked.Store(i + 1)
			}
			if i%5 == 4 {
				_ = l.replica.Transfer(t.Context(), "") // to whoever is best; a refused one changes nothing
			}
		}
		stop()
		readers.Wait()
		if len(terms) < 4 || acked.Load() < 20 {
			t.Errorf("%d terms, %d writes: too little happened", len(terms), acked.Load())
		}
	})
}
