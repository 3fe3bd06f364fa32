package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// bubble runs a test of a cluster of n replicas in virtual time.
func bubble(t *testing.T, n int, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, n)) })
}

func mustWrite(t *testing.T, m *server, name string) {
	t.Helper()
	if err := m.write(name); err != nil {
		t.Fatalf("write %s at %s: %v", name, m.name, err)
	}
}

func mustSee(t *testing.T, m *server, name string) {
	t.Helper()
	if ok, err := m.sees(name); err != nil || !ok {
		t.Errorf("%s sees %s: %t, %v", m.name, name, ok, err)
	}
}

func TestReplica_CommitsEverywhere(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		for _, m := range w.members {
			mustSee(t, m, "x")
		}
		w.same()
		v := w.leader().machine.View()
		if c := v.Cluster(); c.ID != "c1" || c.Leader != w.leader().name || c.Term != w.leader().replica.Term() {
			t.Errorf("the state knows cluster %s led by %s in term %d", c.ID, c.Leader, c.Term)
		}
		for _, m := range w.members {
			if r, ok := v.Replica(m.name); !ok || *r != m.replica.Self() {
				t.Errorf("the state does not know what %s announces: %+v", m.name, r)
			}
		}
	})
}

func TestReplica_Failover(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old := w.leader()
		mustWrite(t, old, "before")
		old.kill()
		dead := time.Now()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		if gap := time.Since(dead); gap > 2*time.Second {
			t.Errorf("failover took %s", gap)
		}
		for _, m := range w.followers() {
			mustSee(t, m, "before") // the cluster is idle: nothing but TermStarted follows
		}
		mustWrite(t, w.leader(), "after")
		old.restart()
		mustSee(t, old, "after")
		w.same()
	})
}

// The replica that the server is named after leads again when it is back, and nobody notices; one that has handed over stays
// a follower.
func TestReplica_NamesakeLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldNamed(t, 3, "s1")
		home := w.leader()
		home.kill()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		home.restart()
		mustWrite(t, w.leader(), "meanwhile")
		w.until("the namesake as the leader", 15*time.Second, func() bool { return w.leader() == home })
		mustWrite(t, home, "at home")
		if err := home.replica.Transfer(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		w.until("another leader", time.Second, func() bool { return w.leader() != nil && w.leader() != home })
		time.Sleep(time.Minute)
		if w.leader() == home {
			t.Error("it has taken over what it had handed over")
		}
		mustWrite(t, w.leader(), "later")
		w.same()
	})
}

func TestReplica_FiveLoseTwo(t *testing.T) {
	bubble(t, 5, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "before")
		w.followers()[0].kill()
		w.leader().kill()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		mustWrite(t, w.leader(), "after")
		for _, m := range w.followers() {
			mustSee(t, m, "before")
			mustSee(t, m, "after")
		}
	})
}

func TestReplica_SevenLoseThree(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 7, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "before")
		for _, f := range w.followers()[:2] {
			f.kill()
		}
		w.leader().kill()
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		mustWrite(t, w.leader(), "after")
		for _, m := range w.followers() {
			mustSee(t, m, "before")
			mustSee(t, m, "after")
		}
	})
}

func TestPropose_AtAFollower(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		f := w.followers()[0]
		if err := f.write("x"); !errors.Is(err, cluster.ErrNotLeader) || errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Errorf("a follower answers %v", err)
		}
		addr, self, ok := f.replica.Leader()
		if !ok || self || addr != w.leader().addr(raftPort) {
			t.Errorf("Leader() = %q, %t, %t", addr, self, ok)
		}
	})
}

func TestPropose_RefusalIsFinal(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		out, err := w.leader().propose(request(), "")
		if pbs.CodeOf(err) != pbs.InvalidRequest || out.Refusal == nil {
			t.Errorf("outcome %+v, error %v", out, err)
		}
	})
}

func TestPropose_UnknownOutcomeInAPartition(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old := w.leader()
		w.isolate(old)
		id := request()
		_, err := old.propose(id, "x")
		if !errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Fatalf("a leader that is cut off answers %v", err)
		}
		if err := old.write("y"); !errors.Is(err, cluster.ErrNotLeader) {
			t.Errorf("deposed, it answers %v", err)
		}
		w.until("another leader", 5*time.Second, func() bool { l := w.leader(); return l != nil && l != old })
		if _, err := w.leader().propose(id, "x"); err != nil {
			t.Errorf("asked again with the same id: %v", err)
		}
		w.net.HealAll()
		mustSee(t, old, "x")
		if out, err := w.leader().propose(id, "x"); err != nil || !out.Repeated {
			t.Errorf("asked a third time: %+v, %v", out, err)
		}
		if seen, err := old.sees("y"); seen || err != nil {
			t.Errorf("what was refused is there: %t, %v", seen, err)
		}
		w.same()
	})
}

func TestPropose_CallerGivesUp(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		l := w.leader()
		w.isolate(l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.replica.Propose(ctx, note(request(), "x")); !errors.Is(err, cluster.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answer: %v", err)
		}
	})
}

func TestPropose_TwinsShareOneOutcome(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		l, id := w.leader(), request()
		var wg sync.WaitGroup
		var firsts atomic.Int32
		for range 5 {
			wg.Go(func() {
				out, err := l.propose(id, "x")
				if err != nil {
					t.Errorf("twin: %v", err)
				}
				if !out.Repeated {
					firsts.Add(1)
				}
			})
		}
		wg.Wait()
		if n := firsts.Load(); n != 1 {
			t.Errorf("%d of 5 twins took effect", n)
		}
		if out, err := l.propose(id, "x"); err != nil || !out.Repeated {
			t.Errorf("later repeat: %+v, %v", out, err)
		}
		if _, err := l.propose(id, "other"); pbs.CodeOf(err) != pbs.ReusedRequest {
			t.Errorf("another body under the same id: %v", err)
		}
	})
}

func TestPropose_TwinWithAnotherBodyInFlight(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		l, id := w.leader(), request()
		errs := make(chan error, 2)
		for _, name := range []string{"x", "y"} {
			go func() {
				_, err := l.propose(id, name)
				errs <- err
			}()
		}
		a, b := <-errs, <-errs
		if (a == nil) == (b == nil) || pbs.CodeOf(errors.Join(a, b)) != pbs.ReusedRequest {
			t.Errorf("answers %v and %v", a, b)
		}
	})
}

func TestPropose_GroupCommit(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		l := w.leader()
		before := l.machine.View().Index()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if err := l.write(string(request())); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := l.machine.View().Index() - before; n < 4 || n > 20 {
			t.Errorf("1000 proposals took %d entries", n)
		}
		w.same()
	})
}

func TestTransfer(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old, to := w.leader(), w.followers()[1]
		if err := old.replica.Transfer(t.Context(), to.name); err != nil {
			t.Fatal(err)
		}
		w.until("the wanted leader", time.Second, func() bool { return w.leader() == to })
		mustWrite(t, to, "x")
		if err := old.replica.Transfer(t.Context(), ""); !errors.Is(err, cluster.ErrNotLeader) {
			t.Errorf("a follower transfers: %v", err)
		}
	})
}

func TestRun_HandsOverBeforeItStops(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old := w.leader()
		began := time.Now()
		if err := old.stop(nil); err != nil {
			t.Errorf("Run: %v", err)
		}
		w.until("another leader", 2*time.Second, func() bool { return w.leader() != nil })
		if gap := time.Since(began); gap > 200*time.Millisecond {
			t.Errorf("nobody led for %s", gap)
		}
	})
}

func TestTransfer_NotToTheDead(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		old, dead, alive := w.leader(), w.followers()[0], w.followers()[1]
		dead.kill()
		if err := old.replica.Transfer(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		w.until("the living leader", time.Second, func() bool { return w.leader() == alive })
		if err := alive.replica.Transfer(t.Context(), dead.name); err == nil {
			t.Error("handed over to a dead replica")
		}
	})
}

func TestAddReplica_PromotedWhenCaughtUp(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mustWrite(t, w.leader(), "x")
		m := w.add("s4")
		m.open(false)
		w.join(m)
		<-time.After(10 * time.Second)
		if n := w.voters(); n != 3 {
			t.Errorf("%d voters before the new one runs", n)
		}
		m.run()
		began := time.Now()
		w.until("fourth voter", 20*time.Second, func() bool { return w.voters() == 4 })
		if took := time.Since(began); took < time.Second {
			t.Errorf("promoted after %s, before it was stable", took)
		}
		mustSee(t, m, "x")
	})
}

// A newcomer gets no vote while it lacks large scripts: a majority with it would not have what a
// majority was to have.
func TestAddReplica_PromotedWhenItHasTheScripts(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		blob := pbs.NameBlob([]byte("a large script"))
		p := command.Proposal{ID: request(), Asker: pbs.User{Name: "u", Host: "h"}, Commands: []command.Command{
			&command.SubmitJob{Owner: pbs.User{Name: "u", Host: "h"}, Blob: &blob, At: pbs.Time(time.Now().UnixNano())},
		}}
		if out, err := w.leader().replica.Propose(t.Context(), p); err != nil || out.Err() != nil {
			t.Fatal(err, out.Err())
		}
		m := w.add("s4")
		var looked atomic.Pointer[member.Scripts]
		looked.Store(new(member.Scripts))
		m.configure = func(c *cluster.Config) { c.Scripts = func() member.Scripts { return *looked.Load() } }
		m.open(false)
		w.join(m)
		m.run()
		stays := func(why string) {
			t.Helper()
			<-time.After(20 * time.Second)
			if n := w.voters(); n != 3 {
				t.Errorf("%d voters though the new one %s", n, why)
			}
		}
		stays("has not looked for scripts")
		looked.Store(&member.Scripts{Index: m.machine.View().Index(), Missing: 1})
		stays("lacks one")
		looked.Store(&member.Scripts{Index: m.machine.View().Index()})
		w.until("fourth voter", 20*time.Second, func() bool { return w.voters() == 4 })
	})
}

// largeScript is a proposal of a job whose script a majority of the replicas has, as counted of these voters.
func largeScript(name, voters string) command.Proposal {
	blob := pbs.NameBlob([]byte(name))
	return command.Proposal{ID: request(), Asker: pbs.User{Name: "u", Host: "h"}, Commands: []command.Command{
		&command.SubmitJob{Owner: pbs.User{Name: "u", Host: "h"}, Blob: &blob, At: pbs.Time(time.Now().UnixNano()), Voters: voters},
	}}
}

// What is named after a newcomer last looked for scripts it has to have, too, before it votes: no script is named
// between what it shows and its vote, but those that come wait no longer than it takes, and not for one that shows nothing.
func TestAddReplica_NoScriptIsNamedBeforeTheVote(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		submit := func(name string) {
			t.Helper()
			if out, err := w.leader().replica.Propose(t.Context(), largeScript(name, "")); err != nil || out.Err() != nil {
				t.Fatal(err, out.Err())
			}
		}
		submit("the first")
		m := w.add("s4")
		var looked atomic.Pointer[member.Scripts]
		looked.Store(new(member.Scripts))
		m.configure = func(c *cluster.Config) { c.Scripts = func() member.Scripts { return *looked.Load() } }
		m.open(false)
		w.join(m)
		m.run()
		<-time.After(10 * time.Second) // it is known what it has to have
		submit("the second")
		looked.Store(&member.Scripts{Index: w.leader().machine.View().Index() - 1})
		began := time.Now()
		for i := range 20 { // it shows nothing new: others are held up for a while, and go on
			submit(fmt.Sprintf("while it is waited for %d", i))
			<-time.After(500 * time.Millisecond)
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("20 scripts took %s", took)
		}
		if n := w.voters(); n != 3 {
			t.Errorf("%d voters though the new one has not shown that it has the second", n)
		}
		stop := make(chan struct{})
		named := make(chan int)
		leader := w.leader().replica
		go func() { // a user who never stops
			n := 0
			for {
				select {
				case <-stop:
					named <- n
					return
				case <-time.After(20 * time.Millisecond):
					p := largeScript(fmt.Sprintf("on and on %d", n), "")
					if _, err := leader.Propose(t.Context(), p); err == nil {
						n++
					}
				}
			}
		}()
		end := time.Now().Add(30 * time.Second)
		for w.voters() == 3 && time.Now().Before(end) {
			looked.Store(&member.Scripts{Index: m.machine.View().Index()})
			<-time.After(time.Second)
		}
		close(stop)
		if n := <-named; n < 20 {
			t.Errorf("%d scripts were named meanwhile", n)
		}
		if n := w.voters(); n != 4 {
			t.Errorf("%d voters: who submits without end keeps a newcomer from its vote", n)
		}
	})
}

// A majority of the voters of before may be none of those of now: the script is to be stored again.
func TestPropose_ScriptStoredByOtherVoters(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		l := w.leader()
		before := l.replica.Voters()
		if _, err := l.replica.Propose(t.Context(), largeScript("x", before)); err != nil {
			t.Fatal(err)
		}
		m := w.add("s2")
		m.open(false)
		w.join(m)
		m.run()
		w.until("second voter", 20*time.Second, func() bool { return w.voters() == 2 })
		if _, err := l.replica.Propose(t.Context(), largeScript("y", before)); !errors.Is(err, cluster.ErrNotLeader) {
			t.Errorf("a script that one of two has: %v", err)
		}
		if _, err := l.replica.Propose(t.Context(), largeScript("y", l.replica.Voters())); err != nil {
			t.Error(err)
		}
	})
}

func TestAddReplica_EmptyDiskIsAnotherServer(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		m := w.followers()[0]
		before := m.replica.Self().ServerID
		m.kill()
		fresh := store.NewMemory()
		m.disk = func() (store.Backend, error) { return fresh, nil }
		m.open(false)
		if m.replica.Self().ServerID == before {
			t.Fatal("the server id did not change")
		}
		w.join(m)
		for _, s := range w.leader().replica.Statuses(t.Context()) {
			if s.Self.ServerID == before {
				t.Error("the server without its memory is still a member")
			}
		}
		m.run()
		w.until("all vote", 20*time.Second, func() bool { return w.voters() == 3 })
	})
}

func TestStart_ClockOff(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mad := w.followers()[0]
		mad.clockOff.Store(int64(365 * 24 * time.Hour))
		_ = w.leader().replica.Transfer(t.Context(), mad.name)
		w.until("a leader with a good clock", 30*time.Second, func() bool { l := w.leader(); return l != nil && l != mad })
		mustWrite(t, w.leader(), "x")
		if now := time.Unix(0, int64(w.leader().machine.View().Now())); now.After(time.Now().Add(time.Minute)) {
			t.Errorf("the log's time is %s", now)
		}
		if mad.spells.Load() != 0 {
			t.Error("duties ran under a mad clock")
		}
	})
}

func TestLead_ClockStepsLater(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		mad := w.leader()
		mad.clockOff.Store(int64(-time.Minute))
		w.until("another leader", 30*time.Second, func() bool { l := w.leader(); return l != nil && l != mad })
		mad.clockOff.Store(0)
		<-time.After(time.Minute) // time ticks
		if now := time.Unix(0, int64(w.leader().machine.View().Now())); time.Since(now).Abs() > 15*time.Second {
			t.Errorf("the log's time is %s, and it is %s", now, time.Now())
		}
	})
}
