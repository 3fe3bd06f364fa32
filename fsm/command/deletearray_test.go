package command

import (
	"fmt"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// TestDeleteArray_StagesOut: a subjob that brings its files away keeps nobody from deleting the others; alone it cannot be deleted.
func TestDeleteArray_StagesOut(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "2"}}}}})
	array := pbs.JobID(fmt.Sprintf("%d[].srv", w.View().Cluster().NextJob))
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}.Set("array_indices_submitted", "", "1-3")})
	for i := range uint32(2) {
		w.must(&StartJob{Job: array.Subjob(i + 1), ExecVnode: "(a:ncpus=1)"})
	}
	first, _ := w.View().Job(array.Subjob(1))
	w.must(&JobExiting{Source: Source{Host: "a", Spool: "s", Seq: 1}, Job: first.ID, RunCount: first.RunCount})
	if err := w.run(&DeleteJob{Job: array.Parent().Subjobs(pbs.Indices{}.With(1))}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("the one that stages out: %v", err)
	}
	w.must(&DeleteJob{Job: array})
	parent, _ := w.View().Job(array)
	second, _ := w.View().Job(array.Subjob(2))
	first, _ = w.View().Job(first.ID)
	if parent.Array.Queued.Count() != 0 || second.Run.Ending != state.EndingDelete || first.Run.Ending != 0 {
		t.Errorf("waiting: %d, the second ends: %d, the first: %d", parent.Array.Queued.Count(), second.Run.Ending, first.Run.Ending)
	}
}
