package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// ended is the word of host h that the run is over.
func (w *suspending) ended(c JobEnded) {
	w.t.Helper()
	w.facts++
	c.Source = Source{Host: "h", Spool: "s", Seq: w.facts}
	w.must(&c)
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
}

func (w *suspending) failed(id pbs.JobID) {
	w.t.Helper()
	w.facts++
	w.must(&CheckpointFailed{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Reason: "no"})
}

// stands returns the state of the job, its holds, what it asks for and the open orders about checkpoints.
func (w *suspending) stands(id pbs.JobID) string {
	w.t.Helper()
	v := w.View()
	j, _ := v.Job(id)
	words := []string{v.JobAttribute(j, "job_state", ""), j.Holds.String(), j.SchedSelect}
	for o := range v.Orders("h") {
		switch o.Kind {
		case state.OrderCheckpoint:
			words = append(words, "checkpoint")
		case state.OrderDiscard:
			words = append(words, "discard")
		}
	}
	return strings.Join(words, " ")
}

func (w *suspending) expect(id pbs.JobID, want string) {
	w.t.Helper()
	if got := w.stands(id); got != want {
		w.t.Errorf("%q, want %q", got, want)
	}
}

// A job that was checkpointed and held goes on from there, on its host and nowhere else, until
// it has ended (specification: accounting section 2, C and T).
func TestCheckpoint_HoldsAndRestarts(t *testing.T) {
	w := newSuspending(t, "")
	w.must(&HostUp{Host: "g", Address: "g:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "g", Available: resource.List{{Name: "ncpus", Value: "4"}}}}})
	id := w.started("2:ncpus=1:mpiprocs=2", "(h:ncpus=1)+(h[1]:ncpus=1)")
	w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
	w.expect(id, "R u 2:ncpus=1:mpiprocs=2 checkpoint")
	w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser}) // asked twice, ordered once
	w.expect(id, "R u 2:ncpus=1:mpiprocs=2 checkpoint")
	w.ended(JobEnded{Job: id, RunCount: 1, ExitStatus: -12, Checkpointed: true})
	w.expect(id, "H u 2:ncpus=1:mpiprocs=2:host=h")
	w.must(&ReleaseJob{Job: id, Holds: pbs.HoldUser})
	w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}}}})
	w.expect(id, "Q n 2:ncpus=1:mpiprocs=2:host=h")
	if err := w.run(&StartJob{Job: id, ExecVnode: "(g:ncpus=1)+(g:ncpus=1)"}); pbs.CodeOf(err) != pbs.BoundElsewhere {
		t.Errorf("started elsewhere: %v", err)
	}
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=2)"})
	w.facts++
	w.must(&JobStarted{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 2, Session: 8})
	if j, _ := w.View().Job(id); j.Checkpoint.Session != 7 {
		t.Errorf("restarted from session %d", j.Checkpoint.Session)
	}
	w.ended(JobEnded{Job: id, RunCount: 2})
	if got := w.View().Orders("h"); !has(got, state.OrderDiscard) {
		t.Error("its checkpoint is kept for ever")
	}
}

func has(orders func(func(*state.Order) bool), kind state.OrderKind) bool {
	for o := range orders {
		if o.Kind == kind {
			return true
		}
	}
	return false
}

// What was checkpointed while it was being deleted leaves nothing behind.
func TestCheckpoint_Unused(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=1", "(h:ncpus=1)")
	w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
	w.must(&DeleteJob{Job: id})
	w.ended(JobEnded{Job: id, RunCount: 1, Checkpointed: true})
	if !has(w.View().Orders("h"), state.OrderDiscard) {
		t.Error("the checkpoint of a deleted job is kept for ever")
	}
}

// Where there is no script, or the program has just ended, the hold stays; where the script
// failed it is taken back.
func TestCheckpoint_Refused(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=1", "(h:ncpus=1)")
	for _, code := range []pbs.Code{pbs.NotSupported, pbs.BadState} {
		w.must(&ReleaseJob{Job: id, Holds: pbs.HoldUser})
		w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser})
		h, _ := w.View().Host("h")
		w.must(&OrderConfirmed{Host: "h", Order: h.NextOrder, Refusal: pbs.Refuse(code)})
		w.expect(id, "R u 1:ncpus=1")
	}
	w.must(&CheckpointJob{Job: id, Holds: pbs.HoldUser | pbs.HoldOperator})
	w.failed(id)
	w.expect(id, "R u 1:ncpus=1 checkpoint") // the order is the dispatcher's to confirm
	if err := w.run(&CheckpointJob{Job: "9.srv"}); pbs.CodeOf(err) != pbs.UnknownJob {
		t.Errorf("an unknown job: %v", err)
	}
	w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Checkpoint", Value: "n"}}}})
	if err := w.run(&CheckpointJob{Job: id}); pbs.CodeOf(err) != pbs.NotSupported {
		t.Errorf("-c n: %v", err)
	}
}

// A checkpoint that cannot be restarted, that no longer fits, or whose host is lost, is dropped.
func TestCheckpoint_Dropped(t *testing.T) {
	for name, drop := range map[string]func(w *suspending, id pbs.JobID) string{
		"bad restart": func(w *suspending, id pbs.JobID) string {
			w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)"})
			w.ended(JobEnded{Job: id, RunCount: 2, ExitStatus: -7, NeverStarted: true})
			return "Q n 1:ncpus=1 discard"
		},
		"another request": func(w *suspending, id pbs.JobID) string {
			w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: "1:ncpus=2"}}}})
			return "Q n 1:ncpus=2 discard"
		},
		"given up": func(w *suspending, id pbs.JobID) string {
			w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)"})
			w.must(&HostDown{Host: "h"})
			w.must(&ForgetHost{Host: "h"})
			return "Q n 1:ncpus=1 discard"
		},
	} {
		w := newSuspending(t, "")
		id := w.started("1:ncpus=1", "(h:ncpus=1)")
		w.must(&CheckpointJob{Job: id})
		w.ended(JobEnded{Job: id, RunCount: 1, Checkpointed: true})
		w.expect(id, "Q n 1:ncpus=1:host=h")
		want := drop(w, id)
		if got := w.stands(id); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
	}
}
