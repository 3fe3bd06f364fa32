package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/transport/build"
)

// withValves runs f in a world of n replicas whose disks can be made to wait, and that take
// snapshots often.
func withValves(t *testing.T, n int, f func(t *testing.T, w *world, valves map[*server]*store.Valve)) {
	bubble(t, 0, func(t *testing.T, w *world) {
		valves := make(map[*server]*store.Valve)
		for i := range n {
			m := w.add(fmt.Sprintf("s%d", i+1))
			disk, valve := store.NewMemory(), &store.Valve{}
			valves[m], m.disk = valve, func() (store.Backend, error) { return valve.On(disk), nil }
			m.configure = func(c *cluster.Config) { c.SnapshotAfter, c.TrailingLogs = 40, 20 }
			m.open(i == 0)
			if i > 0 {
				w.join(m)
			}
			m.run()
			w.until("another voter", 20*time.Second, func() bool { return w.voters() == i+1 })
		}
		f(t, w, valves)
	})
}

// follows waits until a replica follows a leader that is another one, and lives.
func (m *server) mustFollow(limit time.Duration) {
	m.w.t.Helper()
	m.w.until(string(m.name)+" to follow", limit, func() bool {
		l := m.w.leader()
		return l != nil && l != m && m.replica.Status().Role == member.Follower && m.replica.Status().Term == l.replica.Term() && alarm(m, member.AlarmStalled) == nil
	})
	select {
	case err := <-m.done:
		m.w.t.Fatalf("%s has ended: %v", m.name, err)
	default:
	}
}

// mustBeSilent checks what a replica says of itself while its store does not answer.
func (m *server) mustBeSilent(since time.Time) {
	m.w.t.Helper()
	a := alarm(m, member.AlarmStalled)
	if a == nil || a.Serves || m.replica.IsLeader() {
		m.w.t.Fatalf("leads %t, alarm %+v: %s", m.replica.IsLeader(), a, m.w.describe())
	}
	if want := since.Format(time.RFC3339); !strings.Contains(a.Text, want) {
		m.w.t.Errorf("%q does not say %s", a.Text, want)
	}
}

var stalls = []time.Duration{500 * time.Millisecond, 1200 * time.Millisecond, 3 * time.Second, 30 * time.Second, 2 * time.Minute}

// TestSilence_OfALeader: its store does not answer for a while. The others elect within the
// usual time; when the store comes back it follows, by itself, and nothing is lost.
func TestSilence_OfALeader(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	for _, d := range stalls {
		t.Run(d.String(), func(t *testing.T) {
			withValves(t, 3, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
				m := w.leader()
				mustWrite(t, m, "before")
				valves[m].Shut()
				began := time.Now()
				id := request()
				outcome := make(chan error, 1)
				go func() {
					_, err := m.propose(id, "x")
					outcome <- err
				}()
				if d < time.Second {
					time.Sleep(d)
					valves[m].Open()
					if err := <-outcome; err != nil || w.leader() != m {
						t.Errorf("a slow write: %v, %s", err, w.describe())
					}
					return
				}
				if err := <-outcome; !errors.Is(err, cluster.ErrOutcomeUnknown) {
					t.Errorf("the write: %v", err)
				}
				if took := time.Since(began); took > 1100*time.Millisecond {
					t.Errorf("it took %s to say so", took)
				}
				m.mustBeSilent(began)
				if d > 3*time.Second {
					w.until("another leader", 1500*time.Millisecond, func() bool { return w.leader() != nil && w.leader() != m })
					if _, err := w.leader().propose(id, "x"); err != nil {
						t.Error(err)
					}
					if _, err := m.sees("x"); !errors.Is(err, cluster.ErrNotLeader) {
						t.Errorf("a read at the silent one: %v", err)
					}
					for i := range 100 { // snapshots and deletions among them
						mustWrite(t, w.leader(), fmt.Sprint("y", i))
					}
				}
				time.Sleep(time.Until(began.Add(d)))
				valves[m].Open()
				if d > 3*time.Second {
					m.mustFollow(2 * time.Second)
				} else { // it may win the next election
					w.until("a leader", 2*time.Second, func() bool { return w.leader() != nil && alarm(m, member.AlarmStalled) == nil })
				}
				if _, err := w.leader().propose(id, "x"); err != nil {
					t.Error(err)
				}
				mustSee(t, m, "before")
				mustSee(t, m, "x")
				w.same()
			})
		})
	}
}

// TestSilence_OfAFollower, at every kind of write: the others go on, and it follows when its
// store answers.
func TestSilence_OfAFollower(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	stalls := stalls
	if build.Raced && testing.Short() {
		stalls = stalls[2:3] // long enough for the follower to fall silent
	}
	for _, kind := range []string{store.WriteAppend, store.WriteStable, store.WriteDelete, store.WriteSnapshot} {
		for _, d := range stalls {
			t.Run(kind+" for "+d.String(), func(t *testing.T) {
				withValves(t, 3, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
					m := w.followers()[0]
					valves[m].Shut(kind)
					began := time.Now()
					for i := 0; time.Since(began) < d; i++ {
						if err := w.leader().write(fmt.Sprint("x", i)); err != nil {
							t.Fatal(err)
						}
						time.Sleep(d / 100)
					}
					if kind == store.WriteAppend && d > time.Second {
						m.mustBeSilent(began)
					}
					valves[m].Open()
					m.mustFollow(2 * time.Second)
					mustWrite(t, w.leader(), "y")
					mustSee(t, m, "y")
					w.same()
				})
			})
		}
	}
}

// TestSilence_OfALoneReplica: it waits, and so does who asks it, and answers as soon as the
// store does.
func TestSilence_OfALoneReplica(t *testing.T) {
	for _, d := range stalls {
		t.Run(d.String(), func(t *testing.T) {
			withValves(t, 1, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
				m := w.leader()
				valves[m].Shut()
				began := time.Now()
				outcome := make(chan error, 1)
				go func() {
					outcome <- m.write("x")
				}()
				time.Sleep(d)
				if m.replica.Status().Role != member.Leader || (alarm(m, member.AlarmStalled) != nil) != (d > time.Second) {
					t.Errorf("after %s: %+v", d, m.replica.Status())
				}
				valves[m].Open()
				if err := <-outcome; err != nil && d < 5*time.Second {
					t.Error(err)
				}
				w.until("an answer", time.Second-time.Since(began.Add(d)), func() bool { return m.write("y") == nil })
				mustSee(t, m, "x")
				if m.spells.Load() != 1 {
					t.Errorf("the duties began %d times", m.spells.Load())
				}
			})
		})
	}
}

// TestSilence_OfAllReplicas: storage that they share is away. They wait, and serve within a
// second of its return.
func TestSilence_OfAllReplicas(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	for _, d := range stalls {
		t.Run(d.String(), func(t *testing.T) {
			withValves(t, 3, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
				mustWrite(t, w.leader(), "before")
				for _, v := range valves {
					v.Shut()
				}
				id, m := request(), w.leader()
				began := time.Now()
				_, _ = m.propose(id, "x")
				time.Sleep(time.Until(began.Add(d)))
				back := time.Now()
				for _, v := range valves {
					v.Open()
				}
				w.until("an answer", 3*time.Second, func() bool {
					l := w.leader()
					if l == nil {
						return false
					}
					_, err := l.propose(id, "x")
					return err == nil
				})
				t.Logf("answered %s after the disks", time.Since(back))
				for _, m := range w.members {
					mustSee(t, m, "before")
					mustSee(t, m, "x")
				}
				w.same()
			})
		})
	}
}

// TestSilence_VoteThatIsNotWrittenIsNotGiven: of two that are left, one cannot save its vote,
// so nobody is elected by it before it can.
func TestSilence_VoteThatIsNotWrittenIsNotGiven(t *testing.T) {
	withValves(t, 3, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
		m := w.followers()[0]
		valves[m].Shut(store.WriteStable)
		w.leader().kill()
		time.Sleep(time.Minute)
		if l := w.leader(); l != nil {
			t.Fatal("a vote that was never written has elected somebody")
		}
		valves[m].Open()
		w.until("a leader", 3*time.Second, func() bool { return w.leader() != nil })
		mustWrite(t, w.leader(), "x")
	})
}

// TestSilence_EndsWithTheReplica: one that is told to stop does not wait for its store.
func TestSilence_EndsWithTheReplica(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			withValves(t, n, func(t *testing.T, w *world, valves map[*server]*store.Valve) {
				m := w.leader()
				valves[m].Shut()
				go func() { _ = m.write("x") }()
				time.Sleep(4 * time.Second)
				began := time.Now()
				if err := m.stop(nil); err != nil {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %s", took)
				}
				valves[m].Open()
				m.restart()
				w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
				mustWrite(t, w.leader(), "y")
				mustSee(t, m, "y")
			})
		})
	}
}
