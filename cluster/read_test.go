package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
