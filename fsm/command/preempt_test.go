package command

import (
	"slices"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// waits submits a job that stays queued.
func (w *suspending) waits() pbs.JobID {
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	return id
}

// confirm answers the last order of the host.
func (w *suspending) confirm(refusal *pbs.Error) {
	h, _ := w.View().Host("h")
	w.must(&OrderConfirmed{Host: "h", Order: h.NextOrder, Refusal: refusal})
}

// orders counts the open orders of a kind.
func (w *suspending) orders(kind state.OrderKind) (n int) {
	for o := range w.View().Orders("h") {
		if o.Kind == kind {
			n++
		}
	}
	return n
}

// A job is preempted by one order: whoever asks again, the scheduler of the next leader or an
// operator, is refused until the mom has answered.
func TestPreempt_BySuspension(t *testing.T) {
	w := newSuspending(t, "ncpus")
	id := w.started("1:ncpus=4:mem=512mb", "(h:ncpus=4:mem=524288kb)")
	first := w.waits()
	preempt := &PreemptJob{Job: id, RunCount: 1, Method: PreemptSuspend, For: first}
	for _, bad := range []*PreemptJob{
		{Job: id, RunCount: 2, Method: PreemptSuspend, For: first},
		{Job: id, RunCount: 1, Method: PreemptSuspend, For: "99.srv"},
		{Job: id, RunCount: 1, Method: PreemptSuspend, For: id},
		{Job: id, RunCount: 1, Method: "X", For: first},
		{Job: first, Method: PreemptSuspend, For: first},
	} {
		if err := w.run(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	w.must(preempt)
	if err := w.run(preempt); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("preempted twice: %v", err)
	}
	if err := w.run(&SignalJob{Job: id, Signal: Suspend}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("suspended while it is preempted: %v", err)
	}
	if n := w.orders(state.OrderSignal); n != 1 {
		t.Errorf("%d orders", n)
	}
	w.confirm(nil)
	if got, want := w.look(id), "S|45|free||524288kb|0|(h:ncpus=4) ncpus=4"; got != want {
		t.Errorf("preempted with %s, want %s", got, want)
	}
	if j, _ := w.View().Job(id); j.Preempted() == nil || j.Preempting() {
		t.Error("it does not wait to go on")
	}
	w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
	if j, _ := w.View().Job(id); j.Preempting() || j.Preempted() != nil {
		t.Error("it is preempted while it runs")
	}
}

// A run makes way once for a job that waits, whoever lets it go on, and again when that job has started, or for another.
func TestPreempt_OncePerTurn(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=3", "(h:ncpus=3)")
	first := w.waits()
	makeWay := func(who pbs.JobID) error {
		t.Helper()
		err := w.run(&PreemptJob{Job: id, RunCount: 1, Method: PreemptSuspend, For: who})
		if err == nil {
			w.confirm(nil)
			w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
		}
		return err
	}
	if err := makeWay(first); err != nil {
		t.Fatal(err)
	}
	if err := makeWay(first); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("suspended again for one that has not started: %v", err)
	}
	w.must(&HoldJob{Job: first, Holds: pbs.HoldUser})
	w.must(&ReleaseJob{Job: first, Holds: pbs.HoldUser})
	if err := makeWay(first); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("suspended again after a hold: %v", err)
	}
	if err := makeWay(w.waits()); err != nil {
		t.Errorf("for another: %v", err)
	}
	w.must(&StartJob{Job: first, ExecVnode: "(h:ncpus=1)"})
	w.must(&RerunJob{Job: first, Force: true})
	if j, _ := w.View().Job(first); !j.Startable() {
		t.Fatalf("it is %v", j.State)
	}
	if err := makeWay(first); err != nil {
		t.Errorf("when it has started since: %v", err)
	}
}

// A job that is preempted by checkpointing is queued again, and one that its mom cannot
// checkpoint runs on and is preempted by the next method.
func TestPreempt_ByCheckpoint(t *testing.T) {
	for _, fails := range []bool{false, true} {
		w := newSuspending(t, "")
		id := w.started("1:ncpus=4", "(h:ncpus=4)")
		first := w.waits()
		w.must(&PreemptJob{Job: id, RunCount: 1, Method: PreemptCheckpoint, For: first})
		if err := w.run(&PreemptJob{Job: id, RunCount: 1, Method: PreemptRequeue, For: first}); pbs.CodeOf(err) != pbs.BadState {
			t.Errorf("preempted twice: %v", err)
		}
		if fails {
			w.confirm(pbs.Refuse(pbs.NotSupported))
			j, _ := w.View().Job(id)
			if j.Preempting() || j.LastRun().Checkpointing() || j.Run.Preemption.Failed != "C" || Preemptable(j, PreemptRequeue) == false {
				t.Errorf("it is %+v", j.LastRun().Preemption)
			}
			continue
		}
		w.confirm(nil)
		w.facts++
		w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, Checkpointed: true})
		if j, _ := w.View().Job(id); j.State != pbs.Queued || j.Preempted() == nil || !j.Checkpointed() {
			t.Errorf("it is %v %+v", j.State, j.LastRun().Preemption)
		}
	}
}

// A suspension that the mom refuses leaves the job running, and is not tried again.
func TestPreempt_Refused(t *testing.T) {
	w := newSuspending(t, "")
	id := w.started("1:ncpus=4", "(h:ncpus=4)")
	first := w.waits()
	w.must(&PreemptJob{Job: id, RunCount: 1, Method: PreemptSuspend, For: first})
	w.confirm(pbs.Refuse(pbs.SystemError))
	j, _ := w.View().Job(id)
	if j.Preempting() || j.Substate != pbs.SubRunning || j.Run.Preemption.Failed != "S" {
		t.Errorf("it is %v %+v", j.Substate, j.LastRun().Preemption)
	}
	w.must(&PreemptJob{Job: id, RunCount: 1, Method: PreemptRequeue, For: first})
	if j, _ = w.View().Job(id); j.LastRun().Ending != state.EndingRerun || j.Run.Preemption.Failed != "S" {
		t.Errorf("it is %+v", j.LastRun().Preemption)
	}
	if err := w.run(&PreemptJob{Job: id, RunCount: 1, Method: PreemptDelete, For: first}); err == nil {
		t.Error("it was preempted in two ways")
	}
	w.facts++
	w.must(&JobEnded{Source: Source{Host: "h", Spool: "s", Seq: w.facts}, Job: id, RunCount: 1, ExitStatus: 271})
	if j, _ = w.View().Job(id); j.State != pbs.Queued || j.Preempted() == nil {
		t.Errorf("it is %v %+v", j.State, j.LastRun().Preemption)
	}
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=4)"})
	if j, _ = w.View().Job(id); j.Run.Preemption != nil || j.Ousted != nil {
		t.Error("it is preempted while it runs")
	}
}

// The log tells of a job which none of the methods could preempt.
func TestPreempt_LogsFailure(t *testing.T) {
	for rerunnable, want := range map[string][]string{"True": nil, "False": {"0.srv Job failed to be preempted"}} {
		w := newSuspending(t, "")
		w.must(&ManageSched{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "preempt_order", Value: "SR"}}}})
		id := w.started("1:ncpus=4", "(h:ncpus=4)")
		w.must(&AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Rerunable", Value: rerunnable}}}})
		w.must(&PreemptJob{Job: id, RunCount: 1, Method: PreemptSuspend, For: w.waits()})
		h, _ := w.View().Host("h")
		if told := w.tells(&OrderConfirmed{Host: "h", Order: h.NextOrder, Refusal: pbs.Refuse(pbs.SystemError)}); !slices.Equal(told, want) {
			t.Errorf("Rerunable=%s: %q, want %q", rerunnable, told, want)
		}
	}
}
