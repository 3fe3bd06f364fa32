package command

import (
	"fmt"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A job that waits for the end of an earlier run on the host may itself be ended by what
// becomes of another of the host's jobs: it is not brought back.
func TestHostFenced_EndsAJobThatWaitsForAnother(t *testing.T) {
	w := newSuspending(t, "")
	first := w.started("1:ncpus=1", "(h:ncpus=1)")
	second := w.started("1:ncpus=1", "(h:ncpus=1)")
	w.must(&AlterJob{Job: first, Changes: []AttrChange{{Entry: attr.Entry{Name: "Rerunable", Value: "False"}}}})
	w.must(&HostDown{Host: "h"})
	w.must(&RerunJob{Job: second, Force: true})
	w.must(&AlterJob{Job: second, Changes: []AttrChange{{Entry: attr.Entry{Name: "depend", Value: "afterok:" + string(first)}}}})
	h, _ := w.View().Host("h")
	w.must(&HostFenced{Host: "h", Registered: h.Registered, Fence: h.Fence})
	if j, ok := w.View().Job(second); ok && j.State != pbs.Finished {
		t.Errorf("job %s is in state %s, after it was deleted with the one it waited for", second, j.State)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// In a new epoch every mom registers, and what it does not know of is given up: the jobs that
// wait are not looked at for each.
func BenchmarkHostUp_InANewEpoch(b *testing.B) {
	for _, waiting := range []int{10, 50_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			w := newWriter(b)
			definedHost(w)
			for range waiting {
				w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
			}
			epoch := uint64(100)
			for b.Loop() {
				w.must(&NewEpoch{Epoch: epoch})
				w.must(&HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Epoch: epoch - 1})
				epoch++
			}
		})
	}
}
