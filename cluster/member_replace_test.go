package cluster_test

import (
	"testing"
	"time"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/transport/build"
)

// newcomer is a member that joins and runs.
func (w *world) newcomer(name string) *server {
	m := w.add(name)
	m.open(false)
	w.join(m)
	m.run()
	return m
}

// lookAgain is how often it is looked how many may fail: all replicas are asked for it.
const lookAgain = 200 * time.Millisecond

// mayFail is how many more voters may fail, as the leader sees it, and how many there are;
// -1 while it does not know.
func (w *world) mayFail() (more, voters int) {
	<-time.After(lookAgain)
	l := w.leader()
	if l == nil {
		return -1, 0
	}
	all := l.replica.Statuses(w.t.Context())
	for _, s := range all {
		if s.Voter {
			voters++
		}
	}
	_, c, more := member.Assess(all)
	if c == member.NoQuorum {
		return -1, voters
	}
	return more, voters
}

func TestReplace_TheNewcomerTakesThePlaceOfTheDead(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		dead := w.followers()[0]
		dead.kill()
		<-time.After(5 * time.Second)
		began := time.Now()
		fresh := w.newcomer("s4")
		least := 3
		w.until("another in its place", 2*time.Minute, func() bool {
			more, voters := w.mayFail()
			if more < 0 {
				t.Fatalf("no quorum: %s", w.describe())
			}
			least = min(least, voters)
			return more == 1 && voters == 3 && w.isOut(dead)
		})
		if took := time.Since(began); took < 20*time.Second || least < 3 {
			t.Errorf("after %s, with %d voters at the least", took, least)
		}
		mustWrite(t, w.leader(), "x")
		mustSee(t, fresh, "x")
		// With its disk, the dead one joins again by itself: as the daemon asks.
		dead.restart()
		w.join(dead)
		w.until("four voters", time.Minute, func() bool { return w.voters() == 4 })
		mustSee(t, dead, "x")
		<-time.After(time.Minute)
		if w.voters() != 4 {
			t.Error("somebody was removed without need")
		}
	})
}

func TestReplace_NobodyWithoutANewcomer(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		dead := w.followers()[0]
		dead.kill()
		<-time.After(3 * time.Minute)
		if _, voters := w.mayFail(); voters != 3 {
			t.Errorf("%d voters", voters)
		}
		dead.restart()
		w.until("three voters", time.Minute, func() bool { return w.voters() == 3 })
	})
}

// One that restarts while another joins loses nothing by it.
func TestReplace_NotOneThatComesBackInTime(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		away := w.followers()[0]
		away.kill()
		fresh := w.newcomer("s4")
		<-time.After(20 * time.Second)
		if fresh.replica.Status().Voter {
			t.Error("it did not wait for the one that is away")
		}
		away.restart()
		w.until("four voters", time.Minute, func() bool { return w.voters() == 4 })
		<-time.After(2 * time.Minute)
		if w.voters() != 4 || len(w.leader().machine.View().Cluster().Removals) != 0 {
			t.Errorf("removals %+v", w.leader().machine.View().Cluster().Removals)
		}
	})
}

func TestReplace_TwoOfFiveOneAfterTheOther(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 5, func(t *testing.T, w *world) {
		w.raised()
		a, b := w.followers()[0], w.followers()[1]
		a.kill()
		b.kill()
		w.newcomer("s6")
		w.newcomer("s7")
		w.until("five that live", 3*time.Minute, func() bool {
			more, voters := w.mayFail()
			if more < 0 || voters < 5 {
				t.Fatalf("%d voters, %d may fail", voters, more)
			}
			return more == 2 && voters == 5 && w.isOut(a) && w.isOut(b)
		})
	})
}

// TestReplace_LeadersDieInIt: the next one finishes it, and nobody else is removed.
func TestReplace_LeadersDieInIt(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	for name, until := range map[string]func(w *world, fresh *server) bool{
		"it is decided": func(w *world, _ *server) bool { return len(w.leader().machine.View().Leaving()) > 0 },
		"it votes":      func(w *world, fresh *server) bool { return fresh.replica.Status().Voter },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 5, func(t *testing.T, w *world) {
				w.raised()
				dead, old := w.followers()[0], w.leader()
				dead.kill()
				fresh := w.newcomer("s6")
				w.until(name, time.Minute, func() bool { return until(w, fresh) })
				old.kill()
				<-time.After(10 * time.Second)
				old.restart()
				w.until("five that live", 3*time.Minute, func() bool {
					more, voters := w.mayFail()
					return more == 2 && voters == 5 && w.isOut(dead) && !w.isOut(old)
				})
			})
		})
	}
}

// The newcomer that was to take its place dies: the silent one keeps it, and the next
// newcomer takes it.
func TestReplace_TheNewcomerDies(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 5, func(t *testing.T, w *world) {
		w.raised()
		dead := w.followers()[0]
		dead.kill()
		fresh := w.newcomer("s6")
		w.until("a decision", time.Minute, func() bool { return len(w.leader().machine.View().Leaving()) > 0 })
		fresh.kill()
		<-time.After(2 * time.Minute)
		if more, voters := w.mayFail(); more < 1 || voters < 5 {
			t.Errorf("%d voters, %d may fail", voters, more)
		}
		if err := w.remove(fresh.name); err != nil {
			t.Fatal(err)
		}
		w.newcomer("s7")
		w.until("five that live", 3*time.Minute, func() bool {
			more, voters := w.mayFail()
			return more == 2 && voters == 5 && w.isOut(dead)
		})
	})
}

// decideFor puts on record that a newcomer takes a place, as the leader does.
func (w *world) decideFor(silent, by *server) {
	w.t.Helper()
	c := &command.ReplaceReplica{Silent: silent.replica.Self().ServerID, By: by.replica.Self().ServerID}
	if _, err := w.leader().replica.Propose(w.t.Context(), command.Proposal{Commands: []command.Command{c}}); err != nil {
		w.t.Fatal(err)
	}
}

// A newcomer that was to take a place and is dead itself has no vote: nobody is dropped for it.
func TestReplace_NobodyIsDroppedBeforeTheNewcomerVotes(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		dead := w.followers()[0]
		dead.kill()
		fresh := w.add("s4")
		fresh.open(false)
		w.join(fresh)
		w.decideFor(dead, fresh)
		<-time.After(2 * time.Minute)
		if more, voters := w.mayFail(); voters != 3 || more != 0 || w.isOut(dead) {
			t.Errorf("%d voters, %d may fail", voters, more)
		}
		fresh.run()
		w.until("the newcomer in its place", time.Minute, func() bool { return w.isOut(dead) && w.voters() == 3 })
	})
}

func TestReplace_OneThatIsHeardAgainKeepsItsPlace(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		w.raised()
		back := w.followers()[0]
		fresh := w.add("s4")
		fresh.open(false)
		w.join(fresh)
		w.decideFor(back, fresh)
		w.until("a change of mind", 10*time.Second, func() bool { return len(w.leader().machine.View().Leaving()) == 0 })
		fresh.run()
		w.until("four voters", time.Minute, func() bool { return w.voters() == 4 })
		if w.isOut(back) {
			t.Error("it lost its place")
		}
	})
}
