package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// TestJobEnded_NeverStartedAfterAll: a mom whose host has crashed may have lost the record of a
// start that it has reported. A job that must not run twice does not.
func TestJobEnded_NeverStartedAfterAll(t *testing.T) {
	for _, c := range []struct {
		rerunnable, started, lost bool
		state                     pbs.JobState
		failed                    uint32
	}{
		{rerunnable: true, started: false, lost: true, state: pbs.Queued, failed: 1},
		{rerunnable: true, started: true, lost: true, state: pbs.Queued},
		{rerunnable: true, started: true, lost: false, state: pbs.Queued},
		{rerunnable: false, started: false, lost: true, state: pbs.Queued, failed: 1},
		{rerunnable: false, started: true, lost: true, state: pbs.Finished},
		{rerunnable: false, started: true, lost: false, state: pbs.Finished},
	} {
		w := newWriter(t)
		w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
		w.must(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
		rerunnable := "False"
		if c.rerunnable {
			rerunnable = "True"
		}
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{{Name: "Rerunable", Value: rerunnable}}})
		w.must(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"})
		seq := uint64(1)
		if c.started {
			w.must(&JobStarted{Source: Source{"a", "s", seq}, Job: "0.srv", RunCount: 1, Session: 4711})
			seq++
		}
		w.must(&JobEnded{Source: Source{"a", "s", seq}, Job: "0.srv", RunCount: 1, ExitStatus: -4, NeverStarted: true, Lost: c.lost})
		if j, ok := w.View().Job("0.srv"); !ok || j.State != c.state || uint32(j.FailedRuns) != c.failed {
			t.Errorf("%+v: state %s, %d failed runs", c, j.State, j.FailedRuns)
		}
	}
}
