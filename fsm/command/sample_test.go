package command

import (
	"testing"

	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A mother superior whose host was booted may tell less than before: the walltime of a run never
// falls, its cput not below what its phases have used, and what the phases have used adds up to
// what the run has.
func TestUsed_OfABootedHost(t *testing.T) {
	times := func(cput, walltime string) resource.List {
		return resource.List{{Name: "cput", Value: cput}, {Name: "walltime", Value: walltime}}
	}
	w := newReleasing(t)
	want := func(cput, walltime string, used resource.List) {
		t.Helper()
		gotCPU, _ := used.Get("cput")
		gotWall, _ := used.Get("walltime")
		if gotCPU != cput || gotWall != walltime {
			t.Errorf("used cput %s, walltime %s, want %s, %s", gotCPU, gotWall, cput, walltime)
		}
	}
	sample := func(used resource.List) {
		t.Helper()
		w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: used}}})
	}
	sample(times("00:00:20", "00:00:20"))
	sample(times("00:00:09", "00:00:00"))
	want("00:00:09", "00:00:20", w.now().Used)
	w.release("hostb")
	w.confirm("hosta", nil)
	sample(times("00:00:30", "00:00:09"))
	want("00:00:35", "00:00:26", w.now().Used)
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: times("00:00:00", "00:00:00")})
	for _, e := range w.events {
		switch e.Kind {
		case state.JobPhaseEnded, state.JobEnded:
			used := e.Used
			if e.Kind == state.JobEnded {
				used = e.Job.Used
			}
			want("00:00:35", "00:00:26", used)
		case state.JobPhasesOver:
			want("00:00:00", "00:00:00", e.Used)
		}
	}
}
