package fsm_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// TestRestore_KeepsTheLaws puts back a snapshot of any moment of a random log, and goes on.
// The laws hold after every entry, replicas agree though one goes through a snapshot of its
// own (L4, L7), no run is forgotten (L2), no number is given again, and accounting goes on.
func TestRestore_KeepsTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawer{t: t, now: 1_800_000_000_000_000_000, acked: map[pbs.HostName]uint64{}}
		d.add(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
		d.add(d.hostUp("a"))
		d.add(d.hostUp("b"))
		records := uint64(0)
		steady := fsm.New(fsm.Options{Check: true, OnEvents: func(_ *state.View, events []state.Event) {
			for _, e := range events {
				if e.Record > 0 && e.Record != records+1 {
					t.Fatalf("record %d follows %d", e.Record, records)
				}
				records = max(records, e.Record)
			}
		}})
		other := fsm.New(fsm.Options{Check: true})
		applied := 0
		play := func(more int) {
			for range more {
				d.add(d.command())
			}
			for _, l := range d.logs[applied:] {
				if fmt.Sprint(steady.Apply(l)) != fmt.Sprint(other.Apply(l)) || steady.View().Digest() != other.View().Digest() {
					t.Fatalf("the replicas differ after entry %d", l.Index)
				}
			}
			applied = len(d.logs)
		}
		play(rapid.IntRange(0, 40).Draw(t, "before the file"))
		file := saved(t, steady.View())
		from := steady.View()
		play(rapid.IntRange(0, 40).Draw(t, "after the file"))
		for _, host := range []pbs.HostName{"a", "b"} {
			for o := range steady.View().Orders(host) {
				if rapid.Bool().Draw(t, "confirmed") {
					d.alone(&command.OrderConfirmed{Host: host, Order: o.ID})
				}
			}
		}
		play(0)
		before := steady.View()
		d.alone(&command.StagePart{Key: "k", Data: file})
		if rapid.Bool().Draw(t, "through a snapshot") {
			play(0)
			other = throughSnapshot(t, other)
		}
		d.alone(&command.Restore{Key: "k", Parts: 1, Epoch: 2})
		play(0)
		after := steady.View()
		if after.Cluster().Epoch != 2 {
			t.Fatal("the snapshot was not put back")
		}
		checkRestored(t, from, before, after)
		play(rapid.IntRange(0, 30).Draw(t, "after the restore"))
	})
}

func saved(t *rapid.T, v *state.View) []byte {
	var file bytes.Buffer
	if err := snapshot.Write(&file, v); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// alone adds an entry that repeats no other.
func (d *drawer) alone(c command.Command) {
	data, err := command.Encode(command.Entry{Time: d.now, Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.logs = append(d.logs, &raft.Log{Index: uint64(len(d.logs) + 1), Term: 1, Type: raft.LogCommand, Data: data})
}

// checkRestored compares a restored state with the file and with what was there.
func checkRestored(t *rapid.T, from, before, after *state.View) {
	jobs := 0
	for j := range after.Jobs() {
		if _, ok := from.Named(j.ID); !ok { // a subjob may get its record, to wait for a run (L2)
			t.Errorf("job %s is there and not in the file", j.ID)
		}
		if live(j) && j.Unconfirmed != nil {
			t.Errorf("job %s runs before the end of %v is known (L2)", j.ID, j.Unconfirmed)
		}
		jobs++
	}
	history := from.Server().KeepsHistory()
	for j := range from.Jobs() {
		if _, ok := after.Job(j.ID); !ok && !(j.NotRerunnable && live(j) && !history) {
			t.Errorf("job %s of the file is not there", j.ID)
		}
	}
	for j := range before.Jobs() {
		if !live(j) {
			continue
		}
		now, ok := after.Job(j.ID)
		run := state.HostRun{Host: j.LastRun().MS, RunCount: j.RunCount}
		switch {
		case ok && live(now):
			if now.LastRun().MS != j.LastRun().MS || now.RunCount != j.RunCount {
				t.Errorf("job %s has run %d on %s, and %d lives on %s (L2)", j.ID, now.RunCount, now.LastRun().MS, j.RunCount, j.LastRun().MS)
			}
			continue
		case ok && now.State != pbs.Finished && !slices.Contains(now.Unconfirmed, run):
			t.Errorf("job %s does not wait for run %d on %s (L2)", j.ID, j.RunCount, j.LastRun().MS)
		}
		if !ordered(after, run, j.ID) {
			t.Errorf("run %d of %s on %s is not ended (L9)", j.RunCount, j.ID, j.LastRun().MS)
		}
	}
	if least := max(from.Cluster().NextJob, before.Cluster().NextJob) + command.EpochSkip; after.Cluster().NextJob < least {
		t.Errorf("the next job is %d, want %d at least", after.Cluster().NextJob, least)
	}
	if jobs > 0 && after.Remembers(before.Index()) {
		t.Error("who watches jobs would not begin anew")
	}
}

func live(j *state.Job) bool { return j.State == pbs.Running || j.State == pbs.Exiting }

// ordered reports whether there is an order to end the run.
func ordered(v *state.View, run state.HostRun, job pbs.JobID) bool {
	for o := range v.Orders(run.Host) {
		if o.Kind == state.OrderKill && o.Job == job && o.RunCount == run.RunCount {
			return true
		}
	}
	return false
}

// Whoever adds a table says what a restore does with it, in (*state.Tx).Anew and in
// command.Restore.
func TestRestore_KnowsEveryTable(t *testing.T) {
	const (
		fromFile = iota
		stays
		goes
	)
	known := map[byte]int{
		100: stays, 101: fromFile, 1: fromFile, 2: fromFile, 3: stays, 4: fromFile, 5: fromFile, 6: goes, 7: stays, 8: goes,
		9: stays, 10: stays, 11: stays, 12: fromFile, 13: fromFile, 14: fromFile, 15: stays, 16: stays, 20: goes, 30: fromFile, 31: stays, 32: fromFile, 33: fromFile,
	}
	for _, s := range fsm.New(fsm.Options{}).View().Sections() {
		if _, ok := known[s.Tag]; !ok {
			t.Errorf("table %d: is it put back, does it stay, or is it gone?", s.Tag)
		}
	}
}
