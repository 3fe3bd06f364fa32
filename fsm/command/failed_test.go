package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// TestFailedRuns_Hold: after twenty starts in a row that came to nothing the job is
// held, and its comment says why the last one did.
func TestFailedRuns_Hold(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	for i := range maxFailedRuns {
		j, _ := w.View().Job("0.srv")
		if j.State != pbs.Queued {
			t.Fatalf("after %d failed starts the job is in state %s", i, j.State)
		}
		w.must(&StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"})
		h, _ := w.View().Host("a")
		w.must(&OrderConfirmed{Host: "a", Order: h.NextOrder, Refusal: pbs.Errorf(pbs.SystemError, "no space left on device")})
	}
	j, _ := w.View().Job("0.srv")
	if j.State != pbs.Held || j.Holds != pbs.HoldSystem || !strings.HasSuffix(j.Comment, "attempts to run: no space left on device") {
		t.Errorf("state %s, holds %s, comment %q", j.State, j.Holds, j.Comment)
	}
}
