package cluster_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// raised waits until replicas can be removed.
func (w *world) raised() {
	w.t.Helper()
	w.until("feature level", 10*time.Second, func() bool {
		l := w.leader()
		return l != nil
	})
}

// decide puts the wish on record, as the service does.
func (w *world) decide(name pbs.ReplicaName) error {
	p := command.Proposal{Commands: []command.Command{&command.RemoveReplica{Name: name}}}
	_, err := w.leader().replica.Propose(w.t.Context(), p)
	return err
}

// remove is all that the service does at a leader that stays.
func (w *world) remove(name pbs.ReplicaName) error {
	if err := w.leader().replica.MayRemove(w.t.Context(), name); err != nil {
		return err
	}
	if err := w.decide(name); err != nil {
		return err
	}
	return w.leader().replica.FinishRemoval(w.t.Context(), name)
}

// isOut reports whether the leader counts the member no more, and has nothing left to do.
func (w *world) isOut(m *server) bool {
	l := w.leader()
	if l == nil || len(l.machine.View().Leaving()) > 0 {
		return false
	}
	_, known := l.machine.View().Replica(m.name)
	counted := slices.ContainsFunc(l.replica.Statuses(w.t.Context()), func(s member.Status) bool { return s.Self.Name == m.name })
	return !known && !counted
}

func alarmed(m *server, kind member.AlarmKind) bool {
	return slices.ContainsFunc(m.replica.Status().Alarms, func(a member.Alarm) bool { return a.Kind == kind && !a.Serves })
}

func TestRemove_IsOutAndSaysSo(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		m := w.followers()[0]
		for range 2 { // L8
			if err := w.remove(m.name); err != nil {
				t.Fatal(err)
			}
		}
		if !w.isOut(m) {
			t.Error("it is a member")
		}
		w.until("a replica that says so", 15*time.Second, func() bool { return alarmed(m, member.AlarmRemoved) })
		if all := m.replica.Statuses(t.Context()); len(all) != 1 || all[0].Self.Name != m.name {
			t.Errorf("it tells of %+v", all)
		}
		mustWrite(t, w.leader(), "after")
		// It does not come back by itself, nor by a restart, and says so again.
		m.kill()
		m.restart()
		w.until("a replica that says so again", 15*time.Second, func() bool { return alarmed(m, member.AlarmRemoved) })
		if err := w.leader().replica.AddReplica(t.Context(), m.replica.Self()); err == nil {
			t.Error("it was taken in again")
		}
		<-time.After(time.Minute)
		if !w.isOut(m) {
			t.Error("it came back")
		}
		if err := m.stop(nil); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestRemove_ANewDiskOfTheHostIsTakenIn(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		m := w.followers()[0]
		if err := w.remove(m.name); err != nil {
			t.Fatal(err)
		}
		m.kill()
		fresh := store.NewMemory()
		m.disk = func() (store.Backend, error) { return fresh, nil }
		m.open(false)
		w.join(m)
		m.run()
		w.until("three voters", 20*time.Second, func() bool { return w.voters() == 3 })
	})
}

func TestRemove_NeverTheQuorum(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		dead, alive := w.followers()[0], w.followers()[1]
		dead.kill()
		err := w.remove(alive.name)
		if pbs.CodeOf(err) != pbs.InvalidRequest || !strings.Contains(err.Error(), "no quorum") || !strings.Contains(err.Error(), string(dead.name)) {
			t.Errorf("with one dead: %v", err)
		}
		// On record all the same, it waits until it can be done.
		if err := w.decide(alive.name); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second)
		if w.isOut(alive) || w.voters() != 2 {
			t.Error("the quorum was removed")
		}
		dead.restart()
		w.until("the removal", 30*time.Second, func() bool { return w.isOut(alive) })
		mustWrite(t, w.leader(), "x")
	})
}

func TestRemove_TheDeadOneAndDownToOne(t *testing.T) {
	bubble(t, 4, func(t *testing.T, w *world) {
		w.raised()
		dead := w.followers()[0]
		dead.kill()
		if err := w.remove(dead.name); err != nil {
			t.Fatalf("the dead one: %v", err)
		}
		for _, m := range w.followers() {
			mustWrite(t, w.leader(), "before "+string(m.name))
			if err := w.remove(m.name); err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			mustWrite(t, w.leader(), "after "+string(m.name))
		}
		last := w.leader()
		if last.spells.Load() != 1 {
			t.Errorf("%s led %d times", last.name, last.spells.Load())
		}
		if err := w.remove(last.name); err == nil || !strings.Contains(err.Error(), "last") {
			t.Errorf("the last one: %v", err)
		}
	})
}

// TestRemove_LeadersDieBetweenTheSteps: the next one finishes what is on record.
func TestRemove_LeadersDieBetweenTheSteps(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	for name, before := range map[string]func(w *world, l, m *server) error{
		"the wish is on record": func(*world, *server, *server) error { return nil },
		"it has no vote":        func(w *world, l, m *server) error { return l.replica.Withdraw(w.t.Context(), m.name) },
		"it is off the record":  func(w *world, l, m *server) error { return l.replica.FinishRemoval(w.t.Context(), m.name) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 5, func(t *testing.T, w *world) {
				w.raised()
				old, m := w.leader(), w.followers()[0]
				if err := w.decide(m.name); err != nil {
					t.Fatal(err)
				}
				if err := before(w, old, m); err != nil {
					t.Fatal(err)
				}
				old.kill()
				w.until("the end of it", 20*time.Second, func() bool { l := w.leader(); return l != nil && l != m && w.isOut(m) })
				old.restart()
				w.until("four voters", 20*time.Second, func() bool { return w.voters() == 4 })
				mustWrite(t, w.leader(), "x")
				mustSee(t, old, "x")
			})
		})
	}
}

func TestRemove_TheLeaderHandsOverFirst(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		old := w.leader()
		if err := w.decide(old.name); err != nil {
			t.Fatal(err)
		}
		if err := old.replica.FinishRemoval(t.Context(), old.name); !errors.Is(err, cluster.ErrNotLeader) {
			t.Fatalf("it removed itself: %v", err)
		}
		w.until("another leader, that finishes it", 20*time.Second, func() bool { l := w.leader(); return l != nil && l != old && w.isOut(old) })
		mustWrite(t, w.leader(), "x")
	})
}
