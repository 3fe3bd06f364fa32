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
	want("00:00:09", "00:00:20", w.now().LastRun().Used)
	w.release("hostb")
	w.confirm("hosta", nil)
	sample(times("00:00:30", "00:00:09"))
	want("00:00:35", "00:00:26", w.now().LastRun().Used)
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: times("00:00:00", "00:00:00")})
	for _, e := range w.events {
		switch e.Kind {
		case state.JobPhaseEnded, state.JobEnded:
			used := e.Used
			if e.Kind == state.JobEnded {
				used = e.Job.LastRun().Used
			}
			want("00:00:35", "00:00:26", used)
		case state.JobPhasesOver:
			want("00:00:00", "00:00:00", e.Used)
		}
	}
}

// A resource that could be united over the hosts, and can no longer be, or that a hook has taken back, is unset
// (resources-used section 4), unless its mom has lost its memory.
func TestUsed_IsWhatWasToldLast(t *testing.T) {
	was := resource.List{{Name: "foo_i", Value: "7"}, {Name: "foo_str", Value: `'{"a": 1}'`}}
	now := resource.List{{Name: "foo_i", Value: "8"}}
	for name, c := range map[string]struct {
		then func(w *releasing)
		want string
	}{
		"a sample": {func(w *releasing) {
			w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: now, Present: now}}})
		}, "8 "},
		"a sample of nothing": {func(w *releasing) {
			w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1}}})
		}, `7 '{"a": 1}'`},
		"the end": {func(w *releasing) {
			w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: now, Present: now})
		}, "8 "},
		"the end of a lost run": {func(w *releasing) {
			w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: now, Lost: true})
		}, `8 '{"a": 1}'`},
	} {
		w := newReleasing(t)
		w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: was, Present: was}}})
		c.then(w)
		var used resource.List
		if j := w.now(); j != nil {
			used = j.LastRun().Used
		}
		for _, e := range w.events {
			if e.Kind == state.JobEnded || e.Kind == state.JobRequeued {
				used = e.Job.LastRun().Used
			}
		}
		number, _ := used.Get("foo_i")
		text, _ := used.Get("foo_str")
		if number+" "+text != c.want {
			t.Errorf("after %s: %s %s, want %s", name, number, text, c.want)
		}
		if ncpus, ok := used.Get("ncpus"); !ok {
			t.Errorf("after %s: ncpus %q", name, ncpus)
		}
	}
}
