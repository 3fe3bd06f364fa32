package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// farWorld is a cluster of three whose replicas are far from each other, founded for a class.
func farWorld(t *testing.T, delay time.Duration, class pbs.RTTClass) *world {
	t.Cleanup(func() { <-time.After(10 * time.Second) }) // what is asked over so long ways ends after its asker
	w := newWorld(t, 0)
	w.delay = delay
	for i := range 3 {
		m := w.add(fmt.Sprintf("s%d", i+1))
		m.configure = func(c *cluster.Config) { c.Class = class }
		m.open(i == 0)
		if i > 0 {
			w.join(m)
		}
		m.run()
		w.until("a leader", time.Minute, func() bool { return w.leader() != nil })
	}
	return w
}

// A path of 60 ms each way, on which now and then packets are lost: what TCP sends again comes
// 200 ms later.
const (
	farDelay  = 60 * time.Millisecond
	lostDelay = farDelay + 200*time.Millisecond
	lostFor   = 100 * time.Millisecond
)

// stutter makes every path slow for a moment.
func (w *world) stutter() {
	w.delays(lostDelay)
	<-time.After(lostFor)
	w.delays(farDelay)
}

func (w *world) delays(d time.Duration) {
	for i, a := range w.members {
		for _, b := range w.members[i+1:] {
			w.net.Delay(string(a.name), string(b.name), d)
		}
	}
}

// calm lives through some minutes of that, with one write a second at whoever leads, and
// counts the elections, and the writes that failed.
func (w *world) calm(minutes int) (elections uint64, failed int) {
	before := w.term()
	for i := range minutes * 60 {
		w.stutter()
		l := w.leader()
		if l == nil || l.write(fmt.Sprintf("far%d", i%20)) != nil {
			failed++
		}
		<-time.After(time.Second)
	}
	return w.term() - before, failed
}

// term is the highest of all replicas.
func (w *world) term() (highest uint64) {
	for _, m := range w.members {
		highest = max(highest, m.replica.Term())
	}
	return highest
}

func TestClass_FarReplicasAreCalmInTheirs(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	synctest.Test(t, func(t *testing.T) {
		w := farWorld(t, farDelay, pbs.RTTWan)
		w.until("three voters", time.Minute, func() bool { return w.leader() != nil && w.voters() == 3 })
		w.until("the class in the state", time.Minute, func() bool { return w.leader().machine.View().Cluster().RTTClass == pbs.RTTWan })
		if elections, failed := w.calm(3); elections != 0 || failed != 0 {
			t.Errorf("%d elections, %d writes failed", elections, failed)
		}
		for _, m := range w.members {
			mustSee(t, m, "far0")
		}
		old := w.leader()
		old.kill()
		began := time.Now()
		w.until("another leader", time.Minute, func() bool { return w.leader() != nil })
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("failover took %s", took)
		}
		mustWrite(t, w.leader(), "after")
		old.restart()
		w.until("three voters again", time.Minute, func() bool { return w.voters() == 3 })
		mustSee(t, old, "after")
	})
	// The same path is too much for the times of one site: else the above would prove nothing.
	synctest.Test(t, func(t *testing.T) {
		w := farWorld(t, farDelay, pbs.RTTLan)
		seen := uint64(0)
		for minutes := 0; seen < 3; minutes++ {
			if minutes == 15 {
				t.Fatalf("class lan: %d elections in %d minutes", seen, minutes)
			}
			elections, _ := w.calm(1)
			seen += elections
		}
	})
}

// A survivor that is far and answers late, since packets are lost, is not taken for a lost one.
func TestClass_RecoveryWaitsForTheFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := farWorld(t, farDelay, pbs.RTTWan)
		for _, name := range []string{"s4", "s5"} {
			m := w.add(name)
			m.configure = func(c *cluster.Config) { c.Class = pbs.RTTWan }
			m.open(false)
			w.join(m)
			m.run()
		}
		w.until("five voters", 5*time.Minute, func() bool { return w.voters() == 5 })
		for _, m := range w.members[2:] {
			m.kill()
		}
		<-time.After(time.Minute)
		w.delays(lostDelay)
		plan, err := w.members[0].replica.Recover(t.Context(), recovery.Disaster{Look: true})
		if err != nil || len(plan.Survivors) != 2 || len(plan.Lost) != 3 {
			t.Errorf("survivors %+v, lost %v: %v", plan.Survivors, plan.Lost, err)
		}
	})
}

// misfits counts the replicas that are told to restart.
func (w *world) misfits() (n int) {
	verdicts, _, _ := member.Assess(w.leader().replica.Statuses(w.t.Context()))
	for _, v := range verdicts {
		for _, advice := range v.Advice {
			if strings.HasPrefix(advice, "restart it: it runs with the times of class ") {
				n++
			}
		}
	}
	return n
}

func TestClass_TakenUpAtTheNextStart(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		if w.misfits() != 0 {
			t.Error("somebody is told to restart for nothing")
		}
		for _, class := range []pbs.RTTClass{pbs.RTTWan, pbs.RTTMetro} {
			set := command.Proposal{Commands: []command.Command{&command.SetRTTClass{Class: class}}}
			if _, err := w.leader().replica.Propose(t.Context(), set); err != nil {
				t.Fatal(err)
			}
			<-time.After(2 * time.Second) // it is on the disks
			for left := 3; left > 0; left-- {
				if n := w.misfits(); n != left {
					t.Errorf("%s: %d are told to restart, %d have not", class, n, left)
				}
				m := w.members[left-1]
				m.kill()
				m.restart()
				w.until("three voters", time.Minute, func() bool { return w.leader() != nil && w.voters() == 3 })
				if m.replica.Class() != class {
					t.Errorf("%s runs with the times of %s", m.name, m.replica.Class())
				}
			}
			if w.misfits() != 0 {
				t.Error("somebody is still told to restart")
			}
			mustWrite(t, w.leader(), "x")
		}
	})
}

func TestClass_TakenUpByOneThatWasAskedAtOnce(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		l, other := w.leader(), w.followers()[0].replica.Status().Self
		set := command.Proposal{Commands: []command.Command{&command.SetRTTClass{Class: pbs.RTTWan}}}
		if _, err := l.replica.Propose(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		q := identity.Question{ServerID: other.ServerID, Address: other.Address, Start: identity.Start{Generation: other.Generation, Token: other.Start}}
		if _, err := l.replica.LastStart(t.Context(), q); err != nil { // it learns what is new for the answer
			t.Fatal(err)
		}
		<-time.After(2 * time.Second) // it is on the disk
		l.kill()
		l.restart()
		if l.replica.Class() != pbs.RTTWan {
			t.Errorf("it runs with the times of %s", l.replica.Class())
		}
	})
}
