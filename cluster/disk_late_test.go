package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster"
	"rampart/cluster/store"
	"rampart/transport/build"
)

// stallable gives m a disk that can be made to hang.
func (m *server) stallable() *sickLog {
	disk := store.NewMemory()
	sick := &sickLog{LogStore: disk.Log(), wake: make(chan struct{})}
	m.disk = func() (store.Backend, error) { return sickStores{disk, sick}, nil }
	return sick
}

// sickVoter adds a fourth voter whose disk can be made to fail.
func sickVoter(w *world) (*server, *sickLog) {
	m := w.add("s4")
	sick := m.stallable()
	m.open(false)
	w.join(m)
	m.run()
	w.until("fourth voter", 20*time.Second, func() bool { return w.voters() == 4 })
	return m, sick
}

// sickLeader is a leader whose disk can be made to fail.
func sickLeader(t *testing.T, w *world) (*server, *sickLog) {
	t.Helper()
	m, sick := sickVoter(w)
	if err := w.leader().replica.Transfer(t.Context(), m.name); err != nil {
		t.Fatal(err)
	}
	w.until("the sick leader", 2*time.Second, func() bool { return w.leader() == m })
	return m, sick
}

// stalledLeader is a leader whose next write to the log will hang.
func stalledLeader(t *testing.T, w *world) (*server, *sickLog) {
	t.Helper()
	m, sick := sickLeader(t, w)
	w.same()
	sick.hang.Store(true)
	return m, sick
}

// TestStore_LateWriteOfADeposedLeader: the write lands after the process has ended,
// and the others have gone on. The next start finds the entry, and drops it (L1); the
// request was repeated elsewhere and took effect once (L8).
func TestStore_LateWriteOfADeposedLeader(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m, sick := stalledLeader(t, w)
		id := request()
		if _, err := m.propose(id, "x"); !errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Errorf("the write: %v", err)
		}
		m.kill()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		before := lastOf(t, sick)
		sick.hang.Store(false)
		close(sick.wake)
		w.until("the late write", time.Second, func() bool { return lastOf(t, sick) > before })
		if out, err := w.leader().propose(id, "x"); err != nil || out.Repeated {
			t.Errorf("repeated at the new leader: %+v, %v", out, err)
		}
		m.restart()
		m.follows()
		mustSee(t, m, "x")
		w.same()
		if out, err := w.leader().propose(id, "x"); err != nil || !out.Repeated {
			t.Errorf("repeated again: %+v, %v", out, err)
		}
	})
}

// TestStore_LateWriteThatIsCommittedAfterAll: everything goes down with the leader.
// Its log is the longest then, and the entry of unknown outcome is committed: asked
// again with the same id, it has been done, once (L6, L8).
func TestStore_LateWriteThatIsCommittedAfterAll(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		m, sick := stalledLeader(t, w)
		for _, o := range w.members[1:3] {
			o.kill() // two of four are left: no majority without the sick one
		}
		id := request()
		if _, err := m.propose(id, "x"); !errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Errorf("the write: %v", err)
		}
		m.kill()
		w.members[0].kill()
		before := lastOf(t, sick)
		sick.hang.Store(false)
		close(sick.wake)
		w.until("the late write", time.Second, func() bool { return lastOf(t, sick) > before })
		for _, o := range []*server{w.members[0], w.members[1], m} { // no majority without it
			o.restart()
		}
		w.until("a leader", 20*time.Second, func() bool { return w.leader() != nil })
		w.members[2].restart()
		out, err := w.leader().propose(id, "x")
		if err != nil || !out.Repeated {
			t.Errorf("asked again: %+v, %v", out, err)
		}
		for _, o := range w.members {
			mustSee(t, o, "x")
		}
		w.same()
	})
}

func lastOf(t *testing.T, s *sickLog) uint64 {
	t.Helper()
	var n uint64
	var l raft.Log
	for i := uint64(1); s.GetLog(i, &l) == nil; i++ {
		n = i
	}
	return n
}
