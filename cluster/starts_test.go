package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/store"
)

// memory gives m a disk that the test can copy and swap.
func (m *server) memory() *store.Memory {
	s, _ := m.disk()
	return s.(*store.Memory)
}

func (m *server) use(d *store.Memory) {
	m.disk = func() (store.Backend, error) { return d, nil }
}

// ended waits until Run returns by itself, and returns what it returned.
func (m *server) ended(limit time.Duration) error {
	m.w.t.Helper()
	select {
	case err := <-m.done:
		m.done <- nil
		m.kill()
		return err
	case <-time.After(limit):
		m.w.t.Fatalf("%s runs on: %s", m.name, m.w.describe())
		return nil
	}
}

// follows waits until m is a member that keeps up.
func (m *server) follows() {
	m.w.t.Helper()
	m.w.until(string(m.name)+" follows", 20*time.Second, func() bool {
		l := m.w.leader()
		return l != nil && m.machine.View().Index() == l.machine.View().Index() && m.replica.Status().Role == member.Follower
	})
}

func TestAmnesia_OldDiskIsRefused(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.followers()[0]
		m.kill()
		now := m.memory()
		backup := now.Copy()
		m.restart()
		m.follows()
		mustWrite(t, w.leader(), "x")
		m.kill()
		for range 3 { // to be refused is no start that counts
			m.use(backup)
			m.restart()
			if err := m.ended(5 * time.Second); !errors.Is(err, identity.ErrOldDisk) {
				t.Fatalf("Run on a backup: %v", err)
			}
		}
		m.use(now)
		m.restart()
		m.follows()
		mustSee(t, m, "x")
	})
}

func TestAmnesia_OldDiskIsRefusedWhenAllStartAtOnce(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.followers()[0]
		m.kill()
		backup := m.memory().Copy()
		m.restart()
		m.follows()
		<-time.After(2 * time.Second) // the others write down what they know
		for _, o := range w.members {
			o.kill()
		}
		m.use(backup)
		for _, o := range w.members {
			o.restart() // nobody's Raft runs: they answer from their disks
		}
		if err := m.ended(10 * time.Second); !errors.Is(err, identity.ErrOldDisk) {
			t.Errorf("Run on a backup: %v", err)
		}
		w.until("a leader", 10*time.Second, func() bool { return w.leader() != nil })
	})
}

func TestAmnesia_CopyBesideTheOriginal(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		original := w.followers()[0]
		second := w.add("elsewhere")
		second.name = original.name // its identity, on another host
		second.use(original.memory().Copy())
		second.open(false)
		second.run()
		if err := second.ended(5 * time.Second); !errors.Is(err, identity.ErrTwice) {
			t.Errorf("the copy: %v", err)
		}
		mustWrite(t, w.leader(), "x")
		mustSee(t, original, "x")
	})
}

func TestAmnesia_OriginalAfterItsCopy(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.followers()[0]
		m.kill()
		original := m.memory()
		m.use(original.Copy())
		m.restart() // the copy comes first, and is the replica from now on
		m.follows()
		m.kill()
		m.use(original)
		m.restart()
		if err := m.ended(5 * time.Second); !errors.Is(err, identity.ErrOldDisk) {
			t.Errorf("the original, once its copy has run: %v", err)
		}
	})
}

func TestAmnesia_CopyWhileTheOriginalIsCutOff(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		original := w.followers()[0]
		w.isolate(original)
		second := w.add("elsewhere")
		second.name = original.name
		w.net.Cut("elsewhere", string(original.name))
		second.use(original.memory().Copy())
		second.open(false)
		if err := w.leader().replica.AddReplica(t.Context(), second.replica.Self()); err != nil {
			t.Fatal(err)
		}
		second.run()
		second.follows()
		w.net.HealAll()
		if err := original.ended(30 * time.Second); !errors.Is(err, identity.ErrTwice) && !errors.Is(err, identity.ErrOldDisk) {
			t.Errorf("the original, back from its exile: %v", err)
		}
		mustWrite(t, w.leader(), "x")
		mustSee(t, second, "x")
	})
}

func TestAmnesia_TwoCopiesAtOnce(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.members[2]
		for _, o := range w.members {
			o.kill()
		}
		second := w.add("elsewhere")
		second.name = m.name
		second.use(m.memory().Copy())
		for _, o := range w.members {
			o.restart()
		}
		w.until("a leader", 20*time.Second, func() bool { return w.leader() != nil })
		<-time.After(20 * time.Second)
		running := 0
		for _, o := range []*server{m, second} {
			select {
			case err := <-o.done:
				if !errors.Is(err, identity.ErrTwice) && !errors.Is(err, identity.ErrOldDisk) {
					t.Errorf("%s: %v", o.host.IP(), err)
				}
				o.done <- nil
				o.kill()
			default:
				running++
			}
		}
		if running > 1 {
			t.Error("two processes run under one identity")
		}
		mustWrite(t, w.leader(), "x")
	})
}

func TestAmnesia_OneAloneWaitsAndSaysSo(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		for _, m := range w.members {
			m.kill()
		}
		first, second, third := w.members[0], w.members[1], w.members[2]
		first.restart()
		<-time.After(time.Minute)
		s := first.replica.Status()
		if s.Term != 0 || len(s.Alarms) != 1 || !strings.Contains(s.Alarms[0].Text, "waiting for a majority") {
			t.Errorf("alone it says %+v", s)
		}
		if err := first.stop(nil); err != nil {
			t.Errorf("told to stop while it waits: %v", err)
		}
		first.restart()
		second.restart()
		w.until("a leader of two", 10*time.Second, func() bool { return w.leader() != nil })
		if s := w.leader().replica.Status(); len(s.Alarms) != 0 {
			t.Errorf("it still says %v", s.Alarms)
		}
		third.restart()
		third.follows()
	})
}

func TestAmnesia_SingleReplicaStartsAlone(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		m := w.leader()
		mustWrite(t, m, "x")
		m.kill()
		m.restart()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		mustSee(t, m, "x")
	})
}

// All replicas start at once after a power cut: each is asked before it has looked at what it
// knows itself (the race detector judges).
func TestAmnesia_AskedWhileItStarts(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		m := w.leader()
		m.kill()
		m.open(false)
		asked := make(chan error, 1)
		go func() {
			_, err := m.replica.LastStart(t.Context(), identity.Question{ServerID: "n2.1", Address: "n2:1"})
			asked <- err
		}()
		m.run()
		if err := <-asked; err != nil {
			t.Error(err)
		}
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
	})
}

func TestAmnesia_CrashBetweenDiskAndState(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.followers()[0]
		self := m.replica.Self()
		for range 3 { // each start reaches the disk and not the state
			m.kill()
			m.restart()
			w.until("its Raft", 5*time.Second, func() bool { return m.replica.Term() > 0 })
			w.isolate(m)
			m.kill()
			w.net.HealAll()
		}
		m.restart()
		m.follows()
		w.until("the start in the state", 5*time.Second, func() bool {
			r, _ := w.leader().machine.View().Replica(m.name)
			return r.Generation == self.Generation+4 && r.Start == m.replica.Self().Start
		})
	})
}

func TestAmnesia_EmptyDiskIsNoVoter(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m, other := w.followers()[0], w.followers()[1]
		mustWrite(t, w.leader(), "x")
		m.kill()
		old := m.memory()
		m.use(store.NewMemory())
		m.open(false)
		w.join(m)
		other.kill()
		m.run()
		if err := w.leader().write("y"); err == nil {
			t.Fatal("a majority was counted with an empty disk")
		}
		for _, s := range m.replica.Statuses(t.Context()) {
			if s.Self.ServerID == m.replica.Self().ServerID && s.Role == member.Follower {
				t.Error("the empty disk votes before it has caught up")
			}
		}
		other.restart()
		w.until("all vote", 30*time.Second, func() bool { return w.voters() == 3 })
		mustSee(t, m, "x")
		<-time.After(2 * time.Second)

		m.kill()
		m.use(old)
		m.open(false)
		if err := w.leader().replica.AddReplica(t.Context(), m.replica.Self()); err == nil {
			t.Error("the disk that was replaced is taken in again")
		}
		m.run()
		if err := m.ended(5 * time.Second); !errors.Is(err, identity.ErrOldDisk) || !strings.Contains(err.Error(), "taken the place") {
			t.Errorf("the disk that was replaced: %v", err)
		}
	})
}
