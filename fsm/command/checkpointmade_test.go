package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// made is the word of host h that a checkpoint was made of a run that goes on.
func (w *suspending) made(id pbs.JobID, run pbs.RunCount) {
	w.t.Helper()
	w.facts++
	w.must(&CheckpointMade{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: run})
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
}

// A job of which a checkpoint was made runs on as if nothing had been; when its run is lost, or
// given back, it goes on from there, on that host only, and without accounting of the checkpoint.
func TestCheckpointMade_GoesOnWhenLost(t *testing.T) {
	for name, end := range map[string]func(*suspending, pbs.JobID){
		"lost": func(w *suspending, id pbs.JobID) {
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -4, Lost: true})
		},
		"rerun": func(w *suspending, id pbs.JobID) {
			w.must(&RerunJob{Job: id})
			w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -11})
		},
	} {
		w := newSuspending(t, "")
		id := w.started("2:ncpus=1", "(h:ncpus=1)+(h[1]:ncpus=1)")
		w.made(id, 9) // of no run that there is
		w.made(id, 1)
		w.made(id, 1)
		w.expect(id, "R n 2:ncpus=1")
		end(w, id)
		w.expect(id, "Q n 2:ncpus=1:host=h")
		w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=2)"})
		j, _ := w.View().Job(id)
		if !j.Checkpointed() || j.Checkpoint.Session != 7 {
			t.Errorf("%s: the next run goes on from %+v", name, j.Checkpoint)
		}
		w.facts++
		w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 2, Session: 8})
		w.made(id, 2)
		if j, _ := w.View().Job(id); j.Checkpoint.Session != 8 || j.Checkpoint.Select != "2:ncpus=1" {
			t.Errorf("%s: a second checkpoint is %+v", name, j.Checkpoint)
		}
		w.ended(JobEnded{Job: id, RunCount: 2})
		if !has(w.View().Orders("h"), state.OrderDiscard) {
			t.Errorf("%s: its checkpoint is kept for ever", name)
		}
	}
}

// A hold that could not be made true by a checkpoint leaves the older one as it was.
func TestCheckpointMade_BesideAHold(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=1", "(h:ncpus=1)")
	w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
	w.made(id, 1)
	if j, _ := w.View().Job(id); !j.LastRun().Checkpointing() || !j.Checkpointed() {
		t.Errorf("%+v", j.Checkpoint)
	}
	w.failed(id)
	if j, _ := w.View().Job(id); j.LastRun().Checkpointing() || !j.Checkpointed() || j.Holds != 0 {
		t.Errorf("%+v, holds %s", j.Checkpoint, j.Holds)
	}
}

// checkpoint_min of the queue is the least interval, and that of c and w alone.
func TestCheckpoint_IntervalOfTheQueue(t *testing.T) {
	w := newSuspending(t, "")
	set := func(value string) {
		w.must(&ManageQueue{Verb: VerbSet, Queue: "workq", Changes: []AttrChange{{Entry: attr.Entry{Name: "checkpoint_min", Value: value}}}})
	}
	submit := func(value string) pbs.JobID {
		id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Checkpoint", "", value)})
		return id
	}
	shows := func(id pbs.JobID) string {
		j, _ := w.View().Job(id)
		return w.View().JobAttribute(j, "Checkpoint", "")
	}
	if got := shows(submit("w")); got != "w" {
		t.Errorf("without checkpoint_min w is %s", got)
	}
	set("20")
	for value, want := range map[string]string{"n": "n", "s": "s", "u": "u", "c": "c=20", "w": "w=20", "c=5": "c=20", "w=30": "w=30"} {
		if got := shows(submit(value)); got != want {
			t.Errorf("%s is %s, want %s", value, got, want)
		}
	}
	id := w.started("1:ncpus=1", "(h:ncpus=1)")
	w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Checkpoint", Value: "w=1"}}}})
	if got := shows(id); got != "w=20" {
		t.Errorf("altered to %s", got)
	}
	for o := range w.View().Orders("h") {
		if o.Kind != state.OrderAlter {
			continue
		}
		if got, _ := o.Changes.Get("Checkpoint", ""); got != "w=20" {
			t.Errorf("the mom is told %q", got)
		}
	}
}
