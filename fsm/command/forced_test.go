package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// What was received of resources_used stays after a forced delete, whatever the mom tells of that run
// later (specification: resources-used section 2).
func TestForcedDelete_KeepsResourcesUsed(t *testing.T) {
	w := hookedHosts(t)
	w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
	id := w.running("a")
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 7})
	w.must(&UsageSample{Host: "a", Jobs: []JobUsage{{Job: id, RunCount: 1, Used: resource.List{}.Set("vmem", "9gb").Set("foo_i", "29")}}})
	w.must(&DeleteJob{Job: id, Force: true})
	used := func(when string) {
		t.Helper()
		j, ok := w.View().Job(id)
		if !ok || j.State != pbs.Finished {
			t.Fatalf("%s: %+v", when, j)
		}
		for name, want := range map[string]string{"vmem": "9gb", "foo_i": "29"} {
			if got, _ := j.LastRun().Used.Get(name); got != want {
				t.Errorf("%s resources_used.%s is %q, want %s", when, name, got, want)
			}
		}
	}
	used("after the delete")
	w.must(&JobEnded{Source: Source{Host: "a", Spool: "s", Seq: 2}, Job: id, RunCount: 1, ExitStatus: 271, Used: resource.List{}.Set("foo_i", "1")})
	used("after the word of the end")
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}
