package command

import (
	"runtime"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// The end of a job for which many wait takes what grows with them, and not with their
// square: nothing else is applied meanwhile.
func TestDepend_ManyWaitForOne(t *testing.T) {
	ann := pbs.User{Name: "ann", Host: "h"}
	end := func(kind string, waiting int) (allocated uint64) {
		w := newWriter(t)
		w.must(&RaiseLevel{Level: LevelObjects})
		w.must(&SubmitJob{Owner: ann})
		for range waiting {
			w.must(&SubmitJob{Owner: ann, Attributes: attr.List{}.Set("depend", "", kind+":0")})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.must(&DeleteJob{Job: "0.srv"})
		runtime.ReadMemStats(&after)
		for j := range w.View().Jobs() {
			if j.State != pbs.Queued {
				t.Fatalf("job %s is in state %s", j.ID, j.State)
			}
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, kind := range []string{"afterany", "afterok"} { // those of the latter are deleted
		if few, many := end(kind, 200), end(kind, 2000); many > 20*few {
			t.Errorf("%s: 200 take %d bytes, 2000 take %d", kind, few, many)
		}
	}
}
