package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A job that waited waits for the first cycle after a reconfiguration, and nobody knows until then when it starts; one that nobody has looked at yet is new
// (specification: reservation sections 6.10 and 8.7).
func TestReconfigure_Unplanned(t *testing.T) {
	w := newWriter(t)
	unready := func(what, id, want string) {
		t.Helper()
		v := w.View()
		j, _ := v.Job(pbs.JobID(id))
		start := v.JobAttribute(j, "estimated", "start_time")
		if got := v.JobAttribute(j, "lsf_unready", ""); got != want || (start != "") != (id == "0.srv" && want == "") {
			t.Errorf("%s: %s is unready: %q, and is to start at %q", what, id, got, start)
		}
	}
	for range 2 {
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}})
	}
	wait := &SetWaits{}
	wait.Add(JobWait{Job: "0.srv", Start: 1e12, ExecVnode: "(a:ncpus=1)"}, state.Wait{Code: state.WaitBusy})
	w.must(wait)
	unready("before anybody has configured anything", "0.srv", "")
	w.must(&Reconfigure{})
	first := w.View().Reconfigured().Revision
	unready("reconfigured", "0.srv", "True")
	unready("a new job", "1.srv", "")
	w.must(&Reconfigure{})
	w.must(&SetWaits{Planned: first})
	unready("a cycle by what was before", "0.srv", "True")
	w.must(&SetWaits{Planned: w.View().Reconfigured().Revision + 5})
	unready("a cycle by what is to come", "0.srv", "True")
	w.must(&SetWaits{Planned: w.View().Reconfigured().Revision})
	unready("a cycle", "0.srv", "")
	if v := w.View(); v.Unplanned() {
		t.Error("the cycle was not noted")
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}
