package cluster_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster"
	"rampart/cluster/store"
	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// drifting is a state machine that reads another name where the log says "split".
type drifting struct {
	*fsm.FSM
	name atomic.Pointer[string] // nil: it is honest
}

func (d *drifting) ApplyBatch(logs []*raft.Log) []any {
	name := d.name.Load()
	if name == nil {
		return d.FSM.ApplyBatch(logs)
	}
	return d.FSM.ApplyBatch(reread(logs, "split", func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte("split"), []byte(*name)) // names of equal length
	}))
}

// reread returns the entries, with another reading of those that hold the word. Raft
// still sends the originals to others.
func reread(logs []*raft.Log, word string, read func([]byte) []byte) []*raft.Log {
	all := make([]*raft.Log, len(logs))
	for i, l := range logs {
		other := *l
		if bytes.Contains(l.Data, []byte(word)) {
			other.Data = read(l.Data)
		}
		all[i] = &other
	}
	return all
}

func (d *drifting) Apply(l *raft.Log) any { return d.ApplyBatch([]*raft.Log{l})[0] }

// driftingWorld is a world of replicas whose machines can be made to drift.
func driftingWorld(t *testing.T, n int) (*world, map[*server]*drifting) {
	w := newWorld(t, 0)
	machines := make(map[*server]*drifting)
	for i := range n {
		m := w.add([]string{"s1", "s2", "s3", "s4", "s5"}[i])
		m.configure = func(c *cluster.Config) {
			machines[m] = &drifting{FSM: m.machine}
			c.Machine = machines[m]
		}
		m.open(i == 0)
		if i > 0 {
			w.join(m)
		}
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
	}
	w.until("all vote", 20*time.Second, func() bool { return w.voters() == n })
	return w, machines
}

// drift makes the members read what follows in their own ways.
func drift(machines map[*server]*drifting, names map[*server]string) {
	for m, name := range names {
		machines[m].name.Store(&name)
	}
}

// again starts m on what its end left, and has the leader take it in.
func (w *world) again(m *server) {
	m.open(false)
	w.join(m)
	m.run()
}

func TestDrift_FollowerIsInstalledAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, machines := driftingWorld(t, 3)
		m := w.followers()[0]
		id := m.replica.Self().ServerID
		drift(machines, map[*server]string{m: "wrong"})
		mustWrite(t, w.leader(), "split")
		if ok, _ := m.sees("wrong"); !ok {
			t.Fatal("the replica did not drift")
		}
		disk := m.memory()
		if err := m.ended(40 * time.Second); !errors.Is(err, command.ErrDiffers) {
			t.Fatalf("Run: %v", err)
		}
		aside, _, err := snapshot.Read(bytes.NewReader(disk.Quarantined()))
		if err != nil {
			t.Fatalf("the state that was set aside: %v", err)
		}
		if _, ok := aside.View().Replica("wrong"); !ok {
			t.Error("what was set aside is not the state that differed")
		}
		w.again(m)
		if m.replica.Self().ServerID == id {
			t.Error("it came back as the server that it was")
		}
		w.until("all vote", 30*time.Second, func() bool { return w.voters() == 3 })
		mustSee(t, m, "split")
		w.same()
		d := w.leader().machine.View().Cluster().Differences
		if len(d) != 1 || d[0].Replica != m.name || d[0].Index == 0 {
			t.Errorf("the cluster says %+v", d)
		}
	})
}

func TestDrift_LeaderInTheMinorityStepsDown(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	synctest.Test(t, func(t *testing.T) {
		w, machines := driftingWorld(t, 3)
		old := w.leader()
		drift(machines, map[*server]string{old: "wrong"})
		mustWrite(t, old, "split")
		if err := old.ended(40 * time.Second); !errors.Is(err, command.ErrDiffers) {
			t.Fatalf("Run: %v", err)
		}
		w.until("another leader", 5*time.Second, func() bool { return w.leader() != nil })
		if d := w.leader().machine.View().Cluster().Differences; len(d) != 1 || d[0].Replica != old.name {
			t.Errorf("the cluster says %+v", d)
		}
		w.again(old)
		w.until("all vote", 30*time.Second, func() bool { return w.voters() == 3 })
		mustSee(t, old, "split")
		w.same()
	})
}

func TestDrift_NoMajorityStopsWrites(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	synctest.Test(t, func(t *testing.T) {
		w, machines := driftingWorld(t, 3)
		l, f := w.leader(), w.followers()
		drift(machines, map[*server]string{f[0]: "wrong", f[1]: "other"})
		mustWrite(t, l, "split")
		w.until("an alarm", 40*time.Second, func() bool { return len(l.replica.Status().Alarms) > 0 })
		if a := l.replica.Status().Alarms[0].Text; !strings.Contains(a, "no majority of the voters agrees") {
			t.Errorf("alarm %q", a)
		}
		if err := l.write("x"); !errors.Is(err, cluster.ErrNotLeader) {
			t.Errorf("a write: %v", err)
		}
		<-time.After(time.Minute)
		if w.leader() != l || len(w.followers()) != 2 {
			t.Error("somebody stopped without a majority against him")
		}
	})
}

func TestDrift_EqualStatesAreComparedInPeace(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		<-time.After(time.Minute)
		for _, m := range w.members {
			s := m.replica.Status()
			if len(s.Alarms) > 0 || len(s.Marks) < 5 {
				t.Errorf("%s: alarms %v, marks %v", m.name, s.Alarms, s.Marks)
			}
		}
		if d := w.leader().machine.View().Cluster().Differences; len(d) > 0 {
			t.Errorf("differences %v", d)
		}
	})
}

// TestDrift_FilesAreQuarantined: the stores move at the next open, wherever an earlier
// try was cut off.
func TestDrift_FilesAreQuarantined(t *testing.T) {
	dir := t.TempDir()
	open := func() store.Backend {
		t.Helper()
		s, err := store.OpenFiles(dir, quiet())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	if err := s.Log().StoreLog(&raft.Log{Index: 1, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	where, err := s.Quarantine(7, func(w io.Writer) error { return snapshot.Write(w, state.NewStore().View()) })
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	// Cut off after the snapshots had been moved, before the log was.
	if err := os.Rename(filepath.Join(dir, "snapshots"), filepath.Join(where, "snapshots")); err != nil {
		t.Fatal(err)
	}
	s = open()
	if last, err := s.Log().LastIndex(); last != 0 || err != nil {
		t.Errorf("the log ends at %d, %v", last, err)
	}
	_ = s.Close()
	_ = open().Close() // and is not moved again
	files := map[string]os.FileMode{}
	for _, name := range []string{"state.snapshot", "log.db", "snapshots"} {
		if info, err := os.Stat(filepath.Join(where, name)); err == nil {
			files[name] = info.Mode().Perm()
		}
	}
	if files["state.snapshot"] != 0o600 || files["log.db"] != 0o600 || len(files) != 3 {
		t.Errorf("%s holds %v", where, slices.Collect(maps.Keys(files)))
	}
}

// future is an entry of a kind that no build knows yet.
func future() []byte {
	data, err := command.Encode(command.Entry{Time: 1, Proposals: []command.Proposal{{Commands: []command.Command{&command.RaiseLevel{Level: 1}}}}})
	if err != nil {
		panic(err)
	}
	// The last command is [31, {1: 1}].
	return append(data[:len(data)-len("\x18\x1f\xa1\x01\x01")], "\x19\xff\xff\xa1\x01\x01"...)
}

// TestLevel_UnknownEntryStopsTheReplica: a replica that meets a kind that it does not
// know stops and says so; it is never skipped, and those that know it go on (L4).
func TestLevel_UnknownEntryStopsTheReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		for i, name := range []string{"s1", "s2", "s3"} {
			m := w.add(name)
			m.configure = func(c *cluster.Config) {
				if m.name == "s2" {
					c.Machine = older{m.machine}
				}
			}
			m.open(i == 0)
			if i > 0 {
				w.join(m)
			}
			m.run()
			w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
		}
		w.until("all vote", 20*time.Second, func() bool { return w.voters() == 3 })
		m := w.members[1]
		mustWrite(t, w.leader(), "of tomorrow")
		err := m.ended(5 * time.Second)
		if !errors.Is(err, command.ErrTooOld) || !strings.Contains(err.Error(), "unknown kind 65535") {
			t.Errorf("Run: %v", err)
		}
		if _, ok := m.machine.View().Replica("of tomorrow"); ok {
			t.Error("the entry was applied")
		}
		mustWrite(t, w.leader(), "after")
		mustSee(t, w.followers()[0], "after")

		m.restart() // still too old
		if err := m.ended(10 * time.Second); !errors.Is(err, command.ErrTooOld) {
			t.Errorf("Run again: %v", err)
		}
	})
}

// older is the machine of a build that does not know the kind of what the test
// calls "of tomorrow".
type older struct{ *fsm.FSM }

func (o older) ApplyBatch(logs []*raft.Log) []any {
	return o.FSM.ApplyBatch(reread(logs, "of tomorrow", func([]byte) []byte { return future() }))
}

func (o older) Apply(l *raft.Log) any { return o.ApplyBatch([]*raft.Log{l})[0] }

// levelWorld is a cluster of builds of these levels.
func levelWorld(t *testing.T, levels ...uint32) *world {
	w := newWorld(t, 0)
	for i, level := range levels {
		m := w.add([]string{"s1", "s2", "s3"}[i])
		m.build(level)
		m.open(i == 0)
		if i > 0 {
			w.join(m)
		}
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() != nil })
	}
	return w
}

// build makes m pass for a build of that level from its next start on.
func (m *server) build(level uint32) {
	m.configure = func(c *cluster.Config) {
		m.machine = fsm.New(fsm.Options{Check: true, FeatureLevel: level})
		c.Machine, c.Self.FeatureLevel = m.machine, level
	}
}

func (w *world) level() uint32 {
	if l := w.leader(); l != nil {
		return l.machine.View().Cluster().FeatureLevel
	}
	return 0
}

func TestLevel_RaisedWhenEveryVoterKnowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := levelWorld(t, 1, 1, 1)
		w.until("level 1", 10*time.Second, func() bool { return w.voters() == 3 && w.level() == 1 })
		for i, m := range []*server{w.followers()[0], w.followers()[1], w.leader()} {
			if m.replica.IsLeader() {
				_ = m.replica.Transfer(t.Context(), "")
			}
			m.kill()
			m.build(2)
			<-time.After(5 * time.Second) // one is away: it might come back as it was
			if w.level() > 1 {
				t.Fatalf("raised when %d of 3 had been seen at it", i)
			}
			m.restart()
			m.follows()
		}
		w.until("level 2", 10*time.Second, func() bool { return w.level() == 2 })
	})
}

func TestLevel_OlderBuildRefusesToStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := levelWorld(t, 2, 2, 2)
		w.until("level 2", 20*time.Second, func() bool { return w.voters() == 3 && w.level() == 2 })
		m := w.followers()[0]
		<-time.After(2 * time.Second)
		m.kill()
		m.build(1)
		m.restart()
		if err := m.ended(5 * time.Second); !errors.Is(err, command.ErrTooOld) || !strings.Contains(err.Error(), "feature level 2") {
			t.Errorf("Run of an older build: %v", err)
		}
		mustWrite(t, w.leader(), "x")
		m.build(2)
		m.restart()
		m.follows()
		mustSee(t, m, "x")
	})
}

// TestLevel_OlderBuildWithAnEmptyDisk learns the level with the state, and stops then.
func TestLevel_OlderBuildWithAnEmptyDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := levelWorld(t, 2, 2)
		w.until("level 2", 20*time.Second, func() bool { return w.voters() == 2 && w.level() == 2 })
		m := w.add("s3")
		m.build(1)
		m.open(false)
		w.join(m)
		m.run()
		if err := m.ended(10 * time.Second); !errors.Is(err, command.ErrTooOld) {
			t.Errorf("Run of an older build: %v", err)
		}
		mustWrite(t, w.leader(), "x")
	})
}

func TestLevel_OldAndNewTogetherStayAtTheOldOne(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	for _, levels := range [][]uint32{{1, 2, 2}, {1, 1, 2}, {1, 2, 1}} {
		synctest.Test(t, func(t *testing.T) {
			w := levelWorld(t, levels...)
			w.until("all vote", 20*time.Second, func() bool { return w.voters() == 3 })
			<-time.After(time.Minute)
			if w.level() != 1 {
				t.Errorf("builds %v: level %d", levels, w.level())
			}
			mustWrite(t, w.leader(), "x")
			w.same()
		})
	}
}
