package cluster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/cluster/store"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// supervise starts m again whenever it says that it has to, as its process does, and the
// leader takes in what has an empty disk.
func (m *server) supervise() {
	m.w.t.Helper()
	select {
	case err := <-m.done:
		m.done <- err
		if !errors.Is(err, cluster.ErrAgain) {
			m.w.t.Fatalf("%s ended: %v", m.name, err)
		}
		m.kill()
		m.restart()
	default:
	}
	l := m.w.leader()
	if l == nil || l == m || m.done == nil || !m.replica.Runs() || m.replica.Status().Role == member.Follower {
		return
	}
	if known, ok := l.machine.View().Replica(m.name); !ok || known.ServerID != m.replica.Self().ServerID {
		_ = l.replica.AddReplica(m.w.t.Context(), m.replica.Self())
	}
}

// recovers supervises those that run until there is a leader again.
func (w *world) recovers(voters int) {
	w.t.Helper()
	w.until("recovery", 60*time.Second, func() bool {
		for _, m := range w.members {
			if m.done != nil {
				m.supervise()
			}
		}
		return w.leader() != nil && w.voters() == voters
	})
}

// hearsNobody waits until m knows of no leader.
func (m *server) hearsNobody() {
	m.w.t.Helper()
	m.w.until("silence", 5*time.Second, func() bool { _, _, ok := m.replica.Leader(); return !ok })
}

// dead kills members and their disks.
func dead(all ...*server) {
	for _, m := range all {
		m.kill()
		m.use(store.NewMemory())
	}
}

func names(all ...*server) (list []pbs.ReplicaName) {
	for _, m := range all {
		list = append(list, m.name)
	}
	return list
}

func (m *server) recover(lost ...*server) (recovery.Rescue, error) {
	return m.replica.Recover(m.w.t.Context(), recovery.Disaster{Lost: names(lost...), By: pbs.User{Name: "root", Host: "h"}})
}

func mustRecover(t *testing.T, m *server, lost ...*server) recovery.Rescue {
	t.Helper()
	m.hearsNobody()
	plan, err := m.recover(lost...)
	if err != nil {
		t.Fatalf("recover at %s: %v", m.name, err)
	}
	return plan
}

// recovered checks what a recovery must have left.
func (w *world) recovered(plan recovery.Rescue) {
	w.t.Helper()
	c := w.leader().machine.View().Cluster()
	if c.Epoch != plan.Epoch || c.Epoch == 7 || c.NextJob < 1_000_000 || len(c.Recoveries) == 0 {
		w.t.Errorf("epoch %d, next job %d, recoveries %+v; planned was %+v", c.Epoch, c.NextJob, c.Recoveries, plan)
	}
	if w.leader().name != plan.Chosen().Name() {
		w.t.Errorf("%s leads, %s was chosen", w.leader().name, plan.Chosen().Name())
	}
}

func TestRecover_OneOfThreeGoesOn(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		w.same()
		survivor, lost := w.followers()[0], []*server{w.leader(), w.followers()[1]}
		dead(lost...)
		plan := mustRecover(t, survivor, lost...)
		w.recovers(1)
		w.recovered(plan)
		mustSee(t, survivor, "x")
		mustWrite(t, survivor, "y")
		if notes := survivor.memory().Notes(); !strings.Contains(notes, "root@h") || !strings.Contains(notes, string(lost[0].name)) {
			t.Errorf("beside the store is %q", notes)
		}
		for _, m := range lost { // with new disks they join as any replica does
			m.restart()
		}
		w.recovers(3)
		mustSee(t, lost[0], "y")
		survivor.kill()
		w.until("a leader of the new ones", 20*time.Second, func() bool { return w.leader() != nil })
		mustSee(t, w.leader(), "y")
	})
}

func TestRecover_AllWereRestartedAndWait(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		w.same()
		for _, m := range w.members {
			m.kill()
		}
		survivor := w.members[1]
		survivor.restart()
		<-time.After(5 * time.Second)
		if survivor.replica.Runs() {
			t.Fatal("it did not wait")
		}
		plan := mustRecover(t, survivor, w.members[0], w.members[2])
		w.recovers(1)
		w.recovered(plan)
		mustSee(t, survivor, "x")
	})
}

// The furthest log wins, whichever survivor is asked; the others begin anew and follow it.
func TestRecover_FurthestLogWins(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	for _, restarted := range []bool{false, true} {
		bubble(t, 5, func(t *testing.T, w *world) {
			behind, ahead := w.followers()[0], w.followers()[1]
			w.isolate(behind)
			mustWrite(t, w.leader(), "only ahead")
			mustSee(t, ahead, "only ahead")
			lost := []*server{w.leader(), w.followers()[2], w.followers()[3]}
			dead(lost...)
			w.net.Heal(string(behind.name), string(ahead.name)) // from the others, what was sent would come
			if restarted {
				for _, m := range []*server{behind, ahead} {
					m.kill()
					m.restart()
				}
			}
			behind.hearsNobody()
			ahead.hearsNobody()
			before := behind.replica.Self().ServerID
			look, err := behind.replica.Recover(t.Context(), recovery.Disaster{Look: true})
			if err != nil || look.Epoch != 0 || len(look.Lost) != 3 {
				t.Fatalf("looking: %+v, %v", look, err)
			}
			plan := mustRecover(t, behind, lost...)
			if plan.Chosen().Name() != ahead.name || look.Chosen() != plan.Chosen() {
				t.Fatalf("%s was chosen: %+v; at first sight: %+v", plan.Chosen().Name(), plan, look)
			}
			w.recovers(2)
			w.recovered(plan)
			mustSee(t, behind, "only ahead")
			if behind.replica.Self().ServerID == before {
				t.Error("the other survivor goes on with its old log")
			}
			if restarted == false && len(behind.memory().Quarantined()) == 0 {
				t.Error("its state was not set aside")
			}
			w.same()
		})
	}
}

func TestRecover_Refusals(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		refused := func(text string, m *server, lost ...*server) {
			t.Helper()
			if _, err := m.recover(lost...); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("want %q, got %v", text, err)
			}
		}
		l, f, other := w.leader(), w.followers()[0], w.followers()[1]
		refused("s2 answers", l, w.members[1])
		refused("name the replicas", f)
		refused("no member", f, &server{name: "nobody"})
		other.kill()
		refused("a quorum", f, other)
		l.kill()
		f.hearsNobody()
		refused("was not named", f, l)
		l.restart()
		other.restart()
		w.until("a leader", 20*time.Second, func() bool { return w.leader() != nil })
		for _, m := range w.members {
			m.kill()
		}
		f.restart()
		l.restart() // no Raft runs for a moment, and two will be a quorum
		refused("quorum", f, other)
		w.until("a leader of two", 20*time.Second, func() bool { return w.leader() != nil })
		if c := w.leader().machine.View().Cluster(); c.Epoch != 7 || len(c.Recoveries) != 0 {
			t.Errorf("a refused recovery left epoch %d, %+v", c.Epoch, c.Recoveries)
		}
	})
}

// A crash at any step finds the decision on the disk, and it is done once.
func TestRecover_CrashBetweenTheSteps(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		w.same()
		survivor := w.followers()[0]
		lost := []*server{w.leader(), w.followers()[1]}
		dead(lost...)
		plan := mustRecover(t, survivor, lost...)
		survivor.kill()
		for range 4 { // opened, and killed before it leads
			survivor.open(false)
			survivor.run()
			survivor.kill()
		}
		survivor.restart()
		w.recovers(1)
		w.recovered(plan)
		next := survivor.machine.View().Cluster().NextJob
		for range 3 {
			survivor.kill()
			survivor.restart()
			w.recovers(1)
		}
		w.recovered(plan)
		if c := survivor.machine.View().Cluster(); c.NextJob != next || len(c.Recoveries) != 1 {
			t.Errorf("the numbers were raised again: %d, %+v", c.NextJob, c.Recoveries)
		}
		mustSee(t, survivor, "x")
	})
}

// One of the lost that comes back with its disk is told, before and after its place is taken.
func TestRecover_LostOnesComeBack(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		w.same()
		survivor := w.followers()[0]
		lost := []*server{w.leader(), w.followers()[1]}
		for _, m := range lost {
			m.kill()
		}
		mustRecover(t, survivor, lost...)
		w.recovers(1)
		mustWrite(t, survivor, "y")
		for range 2 {
			for _, m := range lost { // together they are a quorum of what they know
				m.restart()
			}
			for _, m := range lost {
				if err := m.ended(20 * time.Second); !errors.Is(err, identity.ErrExcluded) {
					t.Errorf("%s came back: %v", m.name, err)
				}
			}
			survivor.kill() // what it knows of them is on its disk
			survivor.restart()
			w.recovers(1)
		}
		dead(lost...)
		for _, m := range lost {
			m.restart()
		}
		w.recovers(3)
		mustSee(t, lost[0], "y")
	})
}

// Those that were named as lost live on behind a partition, and lead: when it heals they are
// told, and nothing of theirs gets into the log that went on.
func TestRecover_LostOnesLedBehindAPartition(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		survivor := w.followers()[0]
		lost := []*server{w.leader(), w.followers()[1]}
		w.isolate(survivor)
		plan := mustRecover(t, survivor, lost...) // a wrong word
		w.until("two leaders", 20*time.Second, func() bool {
			survivor.supervise()
			return survivor.working.Load() && w.voters() > 0
		})
		mustWrite(t, survivor, "y")
		for lost[0].replica.Term() < survivor.replica.Term()+3 { // their terms are the later ones
			for i, m := range lost {
				if m.replica.IsLeader() {
					_ = m.replica.Transfer(t.Context(), lost[1-i].name)
				}
			}
			<-time.After(time.Second)
		}
		for _, m := range lost {
			if m.replica.IsLeader() {
				mustWrite(t, m, "not of this past")
			}
		}
		spells := survivor.spells.Load()
		w.net.HealAll()
		<-time.After(2 * time.Second)
		if survivor.spells.Load() != spells || !survivor.replica.IsLeader() {
			t.Error("those that were left behind deposed the one that went on")
		}
		for _, m := range lost {
			if err := m.ended(40 * time.Second); !errors.Is(err, identity.ErrExcluded) {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		w.recovers(1)
		w.recovered(plan)
		mustSee(t, survivor, "y")
		if seen, err := survivor.sees("not of this past"); seen || err != nil {
			t.Errorf("the log of the lost ones got in: %v, %v", seen, err)
		}
	})
}
