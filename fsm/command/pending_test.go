package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// What is kept for a job is told of its vnode, changes by what has changed alone, and goes with the wait: at a hold, at a move, or when
// the scheduler says so (specification: reservation sections 5.2, 10.6).
func TestKeepPending(t *testing.T) {
	w := newWriter(t)
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "other", Changes: []AttrChange{
		{Entry: attr.Entry{Name: "queue_type", Value: "Execution"}}, {Entry: attr.Entry{Name: "enabled", Value: "True"}},
	}})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}})
	const id = pbs.JobID("0.srv")
	job := func() *state.Job {
		j, ok := w.View().Job(id)
		if !ok {
			t.Fatal("the job is not there")
		}
		return j
	}
	keep := func(p PendingJob) {
		t.Helper()
		p.Job = id
		w.must(&KeepPending{Turned: 5, Jobs: []PendingJob{p, {Job: "7.srv", Age: 1}}})
		if err := w.View().Check(); err != nil {
			t.Fatal(err)
		}
	}
	kept := []state.Kept{{Vnode: "hosta", Slots: 2, Mem: 1024}, {Vnode: "hostb", Slots: 1}}
	first := PendingJob{Age: 1, Changed: true, Since: 3e9, Held: kept, Told: true, Start: 100e9, ExecVnode: "(hosta:ncpus=2)"}

	keep(first)
	if k := w.View().KeptOf("hosta"); k != kept[0] || w.View().Cluster().Turned != 5 {
		t.Errorf("kept of hosta: %+v", k)
	}
	if got := w.View().JobAttribute(job(), "lsf_reserved", ""); got != "(hosta:ncpus=2:mem=1024kb)+(hostb:ncpus=1)" {
		t.Errorf("lsf_reserved is %q", got)
	}
	keep(PendingJob{Age: 2})
	if p := job().Pending; p.Age != 2 || p.Since != 3e9 || len(p.Held) != 2 || job().EstimatedStart() != 100e9 {
		t.Errorf("after a turn: %+v", p)
	}
	keep(PendingJob{Age: 2, Paused: true, Changed: true, Told: true})
	if p := job().Pending; !p.Paused || len(p.Held) != 0 || job().EstimatedStart() != 0 || w.View().KeptOf("hosta").Slots != 0 {
		t.Errorf("paused: %+v", p)
	}
	for name, end := range map[string]func(){
		"over":  func() { keep(PendingJob{Over: true}) },
		"held":  func() { w.must(&HoldJob{Job: id, Holds: pbs.HoldUser}) },
		"moved": func() { w.must(&MoveJob{Job: id, Queue: "other"}) },
	} {
		keep(first)
		if end(); job().Pending != nil || job().EstimatedStart() != 0 || w.View().KeptOf("hosta").Slots != 0 {
			t.Errorf("%s: it has %+v", name, job().Pending)
		}
		if name == "held" {
			keep(first)
			if job().Pending != nil {
				t.Error("something is kept for a job that is held")
			}
			w.must(&ReleaseJob{Job: id, Holds: pbs.HoldUser})
		}
		if name == "moved" {
			w.must(&MoveJob{Job: id, Queue: "workq"})
		}
	}
}

// What is kept for an array goes with the start of its last subjob: the array itself goes on.
func TestKeepPending_LastSubjob(t *testing.T) {
	w := newFading(t, "")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("array_indices_submitted", "", "1-2").Set("Resource_List", "select", "1:ncpus=1")})
	var id pbs.JobID
	for j := range w.View().Jobs() {
		if j.ID.IsArray() {
			id = j.ID
		}
	}
	for i, slots := range []int64{1, 0} {
		w.must(&KeepPending{Jobs: []PendingJob{{Job: id, Age: 1, Changed: true, Held: []state.Kept{{Vnode: "h", Slots: 1}}}}})
		w.must(&StartJob{Job: id.Subjob(uint32(i + 1)), ExecVnode: "(h:ncpus=1)"})
		if kept := w.View().KeptOf("h").Slots; kept != slots {
			t.Errorf("%d slots are kept after start %d, want %d", kept, i+1, slots)
		}
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}
