package fsm_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/snapshot"
)

// hundredThousand is a machine that has taken an array of so many subjobs; entry is the
// size of the log entry that did it.
func hundredThousand(t testing.TB) (f *fsm.FSM, entry int) {
	f = fsm.New(fsm.Options{})
	now, index := pbs.Time(1_800_000_000*time.Second), uint64(0)
	apply := func(c command.Command) int {
		index++
		data, err := command.Encode(command.Entry{Time: now, Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
		if err != nil {
			t.Fatal(err)
		}
		f.Apply(&raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data})
		return len(data)
	}
	apply(&command.InitCluster{ID: "c", Name: "srv"})
	apply(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "max_array_size", Value: "100000"}}}})
	job := typicalSubmit(0)
	job.Attributes = job.Attributes.Set("array_indices_submitted", "", "0-99999")
	entry = apply(job)
	apply(&command.HostUp{Host: "a", Address: "a:1", BootID: "b", SpoolID: "s", Vnodes: []command.ReportedVnode{{
		Name: "a", Available: resource.List{{Name: "mem", Value: "400gb"}, {Name: "ncpus", Value: "400"}},
	}}})
	for i := range 100 {
		apply(&command.StartJob{Job: pbs.JobID(fmt.Sprintf("0[%d].srv", i)), ExecVnode: "(a:ncpus=2:mem=1048576kb)", Comment: "Job run at noon on a"})
	}
	return f, entry
}

// TestArray_HundredThousandSubjobsAreOneRecord: an array costs one small entry of the log,
// and no records but its own and those of the subjobs that were started.
func TestArray_HundredThousandSubjobsAreOneRecord(t *testing.T) {
	f, entry := hundredThousand(t)
	v := f.View()
	if entry > 1500 {
		t.Errorf("the entry of the log has %d bytes", entry)
	}
	if v.JobCount() != 101 {
		t.Errorf("there are %d records of jobs", v.JobCount())
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, v); err != nil || file.Len() > 40_000 {
		t.Errorf("the snapshot has %d bytes, %v", file.Len(), err)
	}
	j, _ := v.Job("0[].srv")
	if got, want := v.JobAttribute(j, "array_state_count", ""), "Queued:99900 Running:100 Exiting:0 Expired:0"; got != want {
		t.Errorf("the subjobs are %q, want %q", got, want)
	}
	if got, want := v.JobAttribute(j, "array_indices_remaining", ""), "100-99999"; got != want {
		t.Errorf("%q remain, want %q", got, want)
	}
	told := 0
	for sub := range v.AllFrom(0, 0) {
		if told++; told == 50_000 && sub.ID != "0[49998].srv" {
			t.Errorf("the subjob is %s", sub.ID)
		}
	}
	if told != 100_001 {
		t.Errorf("a listing with subjobs tells of %d", told)
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
}

// BenchmarkArray_Submit is the cost of an array of 100,000 subjobs in Apply, with the start
// of 100 of them.
func BenchmarkArray_Submit(b *testing.B) {
	for range b.N {
		hundredThousand(b)
	}
}
