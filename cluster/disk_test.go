package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// aDisk is one that can be slow, nearly full, or full.
type aDisk struct {
	*store.Memory
	slow atomic.Int64 // nanoseconds a write to the log takes
	full atomic.Bool
	free atomic.Int64
}

type aLog struct {
	raft.LogStore
	d *aDisk
}

const plenty = 1 << 30

func newDisk() *aDisk {
	d := &aDisk{Memory: store.NewMemory()}
	d.free.Store(plenty)
	return d
}

func (d *aDisk) Log() raft.LogStore { return aLog{d.Memory.Log(), d} }

func (d *aDisk) Room() (int64, error) { return d.free.Load(), nil }

func (l aLog) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

func (l aLog) StoreLogs(logs []*raft.Log) error {
	if l.d.full.Load() {
		return fmt.Errorf("write log.db: %w", syscall.ENOSPC)
	}
	if took := l.d.slow.Load(); took > 0 {
		<-time.After(time.Duration(took))
	}
	return l.LogStore.StoreLogs(logs)
}

// withDisks runs f in a world of n replicas whose disks can be sick.
func withDisks(t *testing.T, n int, f func(t *testing.T, w *world, disks map[*server]*aDisk)) {
	bubble(t, 0, func(t *testing.T, w *world) {
		disks := make(map[*server]*aDisk)
		for i := range n {
			m, disk := w.add(fmt.Sprintf("s%d", i+1)), newDisk()
			disks[m], m.disk = disk, func() (store.Backend, error) { return disk, nil }
			m.open(i == 0)
			if i > 0 {
				w.join(m)
			}
			m.run()
			w.until("another voter", 20*time.Second, func() bool { return w.voters() == i+1 })
		}
		f(t, w, disks)
	})
}

// load writes ten times a second, for a while, at whoever leads.
func (w *world) load(during time.Duration) {
	for end := time.Now().Add(during); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		if l := w.leader(); l != nil {
			_ = l.write("load")
		}
	}
}

func alarm(m *server, kind member.AlarmKind) *member.Alarm {
	for _, a := range m.replica.Status().Alarms {
		if a.Kind == kind {
			return &a
		}
	}
	return nil
}

// TestDisk_SlowLeaderHandsOver: a leader whose disk is sick drags every commit, so one
// with a well disk leads instead, and goes on leading when the disk is well again.
func TestDisk_SlowLeaderHandsOver(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	withDisks(t, 3, func(t *testing.T, w *world, disks map[*server]*aDisk) {
		sick := w.leader()
		disks[sick].slow.Store(int64(250 * time.Millisecond))
		w.load(20 * time.Second)
		next := w.leader()
		if next == nil || next == sick {
			t.Fatalf("the sick one leads still: %s", w.describe())
		}
		a := alarm(sick, member.AlarmSick)
		if a == nil || !a.Serves || !strings.Contains(a.Text, "p99 25") {
			t.Errorf("the alarm: %+v", a)
		}
		term := next.replica.Term()
		disks[sick].slow.Store(0)
		w.load(40 * time.Second)
		if a := alarm(sick, member.AlarmSick); a != nil {
			t.Errorf("still: %+v", a)
		}
		if w.leader() != next || next.replica.Term() != term {
			t.Errorf("leadership moved without need: %s", w.describe())
		}
	})
}

// TestDisk_NobodyIsBetter: where all disks are slow, leadership stays where it is.
func TestDisk_NobodyIsBetter(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	withDisks(t, 3, func(t *testing.T, w *world, disks map[*server]*aDisk) {
		leader, term := w.leader(), w.leader().replica.Term()
		for _, d := range disks {
			d.slow.Store(int64(150 * time.Millisecond))
		}
		w.load(3 * time.Minute)
		if w.leader() != leader || leader.replica.Term() != term {
			t.Errorf("leadership moved: %s", w.describe())
		}
		if alarm(leader, member.AlarmSick) == nil {
			t.Error("no alarm")
		}
	})
}

// TestDisk_SlowFollowerDragsNobody: commits need a majority, and it is not of it.
func TestDisk_SlowFollowerDragsNobody(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	withDisks(t, 3, func(t *testing.T, w *world, disks map[*server]*aDisk) {
		leader, sick := w.leader(), w.followers()[0]
		disks[sick].slow.Store(int64(400 * time.Millisecond))
		for range 200 {
			began := time.Now()
			mustWrite(t, leader, "x")
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Fatalf("a commit took %s", took)
			}
			<-time.After(100 * time.Millisecond)
		}
		if w.leader() != leader {
			t.Errorf("leadership moved: %s", w.describe())
		}
		if alarm(sick, member.AlarmSick) == nil {
			t.Error("no alarm")
		}
	})
}

// TestDisk_LowLeaderHandsOver, and with too few disks left nothing more is taken until
// there is room; what was committed is read all the while.
func TestDisk_LowLeaderHandsOver(t *testing.T) {
	withDisks(t, 3, func(t *testing.T, w *world, disks map[*server]*aDisk) {
		mustWrite(t, w.leader(), "x")
		low := w.leader()
		disks[low].free.Store(10 << 20)
		w.until("another leader", 10*time.Second, func() bool { return w.leader() != nil && w.leader() != low })
		mustWrite(t, w.leader(), "y")

		second := w.followers()[0]
		if second == low {
			second = w.followers()[1]
		}
		disks[second].free.Store(10 << 20)
		var err error
		w.until("a refusal", 10*time.Second, func() bool { err = w.leader().write("z"); return err != nil })
		if !errors.Is(err, cluster.ErrNoRoom) || pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("the refusal: %v", err)
		}
		if a := alarm(w.leader(), member.AlarmNoWrites); a == nil || a.Serves {
			t.Errorf("the leader's alarm: %+v", a)
		}
		mustSee(t, low, "y")
		submit := func() error {
			job := command.Proposal{Commands: []command.Command{&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}}}}
			_, err := w.leader().replica.Propose(t.Context(), job)
			return err
		}
		disks[low].free.Store(20 << 20)
		disks[second].free.Store(70 << 20) // more than little, not yet enough
		w.until("changes from the reserve", 10*time.Second, func() bool { return w.leader().write("z") == nil })
		if err := submit(); !errors.Is(err, cluster.ErrNoRoom) || !strings.Contains(err.Error(), "no jobs are taken or started: little room is left") {
			t.Errorf("a job: %v", err)
		}
		disks[second].free.Store(plenty)
		w.until("jobs again", 10*time.Second, func() bool { return !errors.Is(submit(), cluster.ErrNoRoom) })
		w.until("writes again", 10*time.Second, func() bool { return w.leader().write("z") == nil })
		w.same()
	})
}

// TestDisk_FullReplicaEndsWaitsAndComesBack: it stops with ErrStore (L12); started again
// it waits, says for what, and goes on by itself.
func TestDisk_FullReplicaEndsWaitsAndComesBack(t *testing.T) {
	withDisks(t, 3, func(t *testing.T, w *world, disks map[*server]*aDisk) {
		m := w.followers()[0]
		disks[m].full.Store(true)
		disks[m].free.Store(0)
		mustWrite(t, w.leader(), "x")
		if err := m.ended(5 * time.Second); !errors.Is(err, store.ErrFailed) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Run: %v", err)
		}
		m.restart()
		w.until("the word that it waits", 5*time.Second, func() bool { return alarm(m, member.AlarmFull) != nil })
		if a := alarm(m, member.AlarmFull); a.Serves || !strings.Contains(a.Text, "0 MiB are free, and 16 MiB needed") {
			t.Errorf("the alarm: %+v", a)
		}
		for _, asked := range []*server{w.leader(), m} { // whoever is asked
			verdicts, c, mayFail := member.Assess(asked.replica.Statuses(t.Context()))
			if len(verdicts) != 3 || c != member.Impaired || mayFail != 0 {
				t.Errorf("%s says %s, %d may fail, %+v", asked.name, c, mayFail, verdicts)
			}
		}
		mustWrite(t, w.leader(), "y")
		disks[m].full.Store(false)
		disks[m].free.Store(plenty)
		m.follows()
		mustSee(t, m, "y")
		if a := m.replica.Status().Alarms; len(a) != 0 {
			t.Errorf("still: %v", a)
		}
		w.same()
	})
}

// TestMeter_TellsWhatHappened: the registry of a replica has what the page promises.
func TestMeter_TellsWhatHappened(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		reg := prometheus.NewPedanticRegistry()
		m := w.add("s1")
		m.configure = func(c *cluster.Config) { c.Registry = reg }
		m.open(true)
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		mustWrite(t, m, "x")
		if _, err := m.replica.Propose(t.Context(), command.Proposal{Commands: []command.Command{&command.ForgetHost{Host: "nobody"}}}); pbs.CodeOf(err) == 0 {
			t.Errorf("not refused: %v", err)
		}
		mustSee(t, m, "x")
		got := figures(t, reg)
		for name, least := range map[string]float64{
			"rampart_proposals_total{done}": 1, "rampart_proposals_total{refused}": 1, "rampart_proposal_duration_seconds": 2,
			"rampart_read_rounds_total{confirmed}": 1, "rampart_store_write_duration_seconds{append}": 2,
			"rampart_apply_entries_total": 3, "rampart_raft_role{leader}": 1, "rampart_raft_term": 1,
			"rampart_raft_applied_index": 3, "rampart_raft_elections_total": 1, "rampart_raft_voters": 1, "rampart_store_free_bytes": 1,
		} {
			if got[name] < least {
				t.Errorf("%s is %v, want %v at least", name, got[name], least)
			}
		}
		for _, name := range []string{"rampart_raft_role{follower}", "rampart_proposals_in_flight", "rampart_store_slow", "rampart_raft_lag_entries"} {
			if v, ok := got[name]; !ok || v != 0 {
				t.Errorf("%s is %v, %t", name, v, ok)
			}
		}
	})
}

// figures reads all metrics: values, and counts of histograms, by name and labels.
func figures(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetValue() + "}"
			}
			all[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}
