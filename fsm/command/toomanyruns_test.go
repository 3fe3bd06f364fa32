package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Reliable-startup section 5: a job whose run_count exceeds 20 when a start fails is held.
func TestFailedRuns_RunCount(t *testing.T) {
	const words = "job held, too many failed attempts to run"
	start := func(t *testing.T, more ...attr.Entry) (*writer, func(job pbs.JobID) *state.Job) {
		t.Helper()
		w := newWriter(t)
		w.must(&HostUp{Host: "a", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
		list := attr.List(nil)
		for _, e := range more {
			list = list.Set(e.Name, e.Resource, e.Value)
		}
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: list})
		seq := uint64(0)
		return w, func(job pbs.JobID) *state.Job {
			w.must(&StartJob{Job: job, ExecVnode: "(a:ncpus=1)"})
			j, _ := w.View().Job(job)
			seq++
			w.must(&JobEnded{Source: Source{"a", "s", seq}, Job: job, RunCount: j.RunCount, ExitStatus: -3, NeverStarted: true, Comment: "why"})
			j, _ = w.View().Job(job)
			return j
		}
	}
	t.Run("failed from the first", func(t *testing.T) {
		_, fail := start(t)
		for n := 1; n <= 20; n++ {
			if j := fail("0.srv"); j.State != pbs.Queued || j.Comment != "why" {
				t.Fatalf("after %d failed starts: %s, %q", n, j.State, j.Comment)
			}
		}
		if j := fail("0.srv"); j.State != pbs.Held || j.Holds != pbs.HoldSystem || j.Comment != words {
			t.Errorf("%s, %s, %q", j.State, j.Holds, j.Comment)
		}
	})
	t.Run("has run often", func(t *testing.T) {
		_, fail := start(t, attr.Entry{Name: "run_count", Value: "20"})
		if j := fail("0.srv"); j.State != pbs.Held || j.Holds != pbs.HoldSystem || j.Comment != words {
			t.Errorf("%s, %s, %q", j.State, j.Holds, j.Comment)
		}
	})
	t.Run("of an array", func(t *testing.T) {
		w, fail := start(t, attr.Entry{Name: "array_indices_submitted", Value: "1-2"})
		for range 20 {
			if j := fail("0[1].srv"); j.Holds != 0 {
				t.Fatalf("subjob: %s, %q", j.Holds, j.Comment)
			}
		}
		j := fail("0[1].srv")
		if shown := w.View().JobAttribute(j, "job_state", ""); j.Holds != pbs.HoldSystem || j.Comment != words || shown != "H" {
			t.Errorf("subjob: %s, %q, shown as %s", j.Holds, j.Comment, shown)
		}
		array := func() *state.Job {
			j, _ := w.View().Job("0[].srv")
			return j
		}
		if j := array(); j.State != pbs.Held || j.Holds != pbs.HoldSystem || j.Comment != "Job Array Held, too many failed attempts to run subjob" {
			t.Errorf("array: %s, %s, %q", j.State, j.Holds, j.Comment)
		}
		w.must(&ReleaseJob{Job: "0[].srv", Holds: pbs.HoldSystem})
		if j := array(); j.State != pbs.Queued || j.Comment != "" {
			t.Errorf("released array: %s, %q", j.State, j.Comment)
		}
		w.must(&StartJob{Job: "0[1].srv", ExecVnode: "(a:ncpus=1)", Comment: "Job run at noon on (a:ncpus=1)"})
		if j := array(); j.State != pbs.Begun || j.Comment != "Job Array Began at noon" {
			t.Errorf("array that goes on: %s, %q", j.State, j.Comment)
		}
	})
}
