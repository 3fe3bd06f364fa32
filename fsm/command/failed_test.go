package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// TestFailedRuns_Hold: after twenty starts in a row that came to nothing the job is
// held, and its comment says why the last one did.
func TestFailedRuns_Hold(t *testing.T) {
	s := state.NewStore()
	index := uint64(0)
	run := func(c Command) {
		t.Helper()
		index++
		out, _ := Run(s, index, 1, Entry{Time: pbs.Time(index), Proposals: []Proposal{{Commands: []Command{c}}}})
		if err := out[0].Err(); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		s.Publish()
	}
	run(&InitCluster{ID: "c", Name: "srv"})
	run(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
	run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	for i := range maxFailedRuns {
		j, _ := s.View().Job("0.srv")
		if j.State != pbs.Queued {
			t.Fatalf("after %d failed starts the job is in state %s", i, j.State)
		}
		run(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"})
		h, _ := s.View().Host("a")
		run(&OrderConfirmed{Host: "a", Order: h.NextOrder, Refusal: pbs.Errorf(pbs.SystemError, "no space left on device")})
	}
	j, _ := s.View().Job("0.srv")
	if j.State != pbs.Held || j.Holds != pbs.HoldSystem || !strings.HasSuffix(j.Comment, "attempts to run: no space left on device") {
		t.Errorf("state %s, holds %s, comment %q", j.State, j.Holds, j.Comment)
	}
}
