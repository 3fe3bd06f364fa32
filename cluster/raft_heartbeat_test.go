package cluster_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// slowNotes is a disk that takes its time for what is not the log.
type slowNotes struct {
	*store.Memory
	takes *atomic.Int64 // nanoseconds
	notes *atomic.Int32 // what it wrote slowly
}

type slowStable struct {
	raft.StableStore
	d slowNotes
}

func (d slowNotes) Stable() raft.StableStore { return slowStable{d.Memory.Stable(), d} }

func (s slowStable) Set(key, value []byte) error {
	if took := s.d.takes.Load(); took > 0 {
		<-time.After(time.Duration(took))
		defer s.d.notes.Add(1)
	}
	return s.StableStore.Set(key, value)
}

// TestHeartbeats_DoNotWaitForTheDisk: while followers write down what is news of the members,
// on disks that are slow, they hear their leader. (One that waited for the lock of that would
// stop the clock of the bubble.)
func TestHeartbeats_DoNotWaitForTheDisk(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		var takes atomic.Int64
		var notes atomic.Int32
		for _, name := range []string{"s2", "s3"} {
			m := w.add(name)
			disk := slowNotes{store.NewMemory(), &takes, &notes}
			m.disk = func() (store.Backend, error) { return disk, nil }
			m.open(false)
			w.join(m)
			m.run()
		}
		w.until("three voters", 20*time.Second, func() bool { return w.voters() == 3 })
		w.raised()
		l := w.leader()
		term := l.replica.Term()
		takes.Store(int64(900 * time.Millisecond))
		p := command.Proposal{Commands: []command.Command{&command.SetRTTClass{Class: pbs.RTTWan}}}
		if out, err := l.replica.Propose(t.Context(), p); err != nil || out.Err() != nil {
			t.Fatal(err, out.Err())
		}
		w.until("both notes", 10*time.Second, func() bool { return notes.Load() == 2 })
		takes.Store(0)
		if w.leader() != l || l.replica.Term() != term {
			t.Errorf("the leader was lost: %s", w.describe())
		}
	})
}
