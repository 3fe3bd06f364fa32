package sched_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// started returns the identifiers of a plan's starts.
func started(p sched.Plan) string {
	var ids []string
	for _, s := range p.Starts {
		ids = append(ids, strings.TrimSuffix(string(s.Job), ".srv"))
	}
	return strings.Join(ids, " ")
}

// TestArray_StartsAsManyAsFit: an array is one candidate with many starts, in the order
// of its indices, and what is behind it gets what it leaves.
func TestArray_StartsAsManyAsFit(t *testing.T) {
	b := newBench(t)
	b.host("h", "h:ncpus=4,mem=4gb")
	b.submit("ncpus=1 array=1-9:4")
	b.submit("ncpus=1 array=0-5")
	b.submit("ncpus=1")
	p := b.plan()
	if got, want := started(p), "0[1] 0[5] 0[9] 1[0]"; got != want {
		t.Fatalf("started %s, want %s", got, want)
	}
	b.apply(p)
	if p = b.plan(); len(p.Starts) > 0 {
		t.Fatalf("started %s on full vnodes", started(p))
	}
	for _, c := range p.Comments {
		if c.Job != "2.srv" {
			t.Errorf("an array that has begun is told %q", c.Why.Comment())
		}
	}
}

// TestArray_MaxRunSubjobs: %N bounds what runs at a time, and holds up nobody else.
func TestArray_MaxRunSubjobs(t *testing.T) {
	b := newBench(t)
	b.host("h", "h:ncpus=4,mem=4gb")
	b.submit("ncpus=1 array=0-5 most=2")
	b.submit("ncpus=1")
	p := b.plan()
	if got, want := started(p), "0[0] 0[1] 1"; got != want {
		t.Fatalf("started %s, want %s", got, want)
	}
	b.apply(p)
	if p = b.plan(); len(p.Starts) > 0 {
		t.Fatalf("started %s beyond the limit", started(p))
	}
	b.do(&command.DeleteJob{Job: "0[1].srv", Force: true})
	if got, want := started(b.plan()), "0[2]"; got != want {
		t.Fatalf("started %s, want %s", got, want)
	}
}

// TestArray_ReturnedSubjobFirst: a subjob that was put back starts again before those that
// were never started, under its own number of runs.
func TestArray_ReturnedSubjobFirst(t *testing.T) {
	b := newBench(t)
	b.host("h", "h:ncpus=2,mem=4gb")
	b.submit("ncpus=1 array=0-5 most=2")
	b.apply(b.plan())
	b.do(&command.HostDown{Host: "h"})
	b.do(&command.ForgetHost{Host: "h"})
	b.do(&command.HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []command.ReportedVnode{{
		Name: "h", Available: (&state.Vnode{}).Reported.Set("ncpus", "2").Set("host", "h").Set("vnode", "h"),
	}}})
	p := b.plan()
	if got, want := started(p), "0[0] 0[1]"; got != want {
		t.Fatalf("started %s, want %s", got, want)
	}
	b.apply(p)
	if j, _ := b.store.View().Job("0[1].srv"); j.RunCount != 2 {
		t.Errorf("the run count is %d", j.RunCount)
	}
}

// TestArray_InCycles: a large array is planned in as many cycles as it takes.
func TestArray_InCycles(t *testing.T) {
	b := newBench(t)
	b.host("h", "h:ncpus=10,mem=4gb")
	b.submit("ncpus=1 array=0-9")
	planner := sched.NewPlanner()
	planner.Limit(4, 10, 10, 10)
	var all []string
	for range 3 {
		p := planner.Plan(b.store.View(), start)
		if more := len(all)+len(p.Starts) < 10; p.More != more {
			t.Errorf("after %s and %s: more is %v", all, started(p), p.More)
		}
		all = append(all, strings.Fields(started(p))...)
		b.apply(p)
	}
	if len(all) != 10 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 10 {
		t.Errorf("started %v", all)
	}
	if v := b.store.View(); v.QueuedCount() != 0 || v.JobCount() != 11 {
		t.Errorf("%d wait and there are %d records", v.QueuedCount(), v.JobCount())
	}
	if j, _ := b.store.View().Job("0[].srv"); j.State != pbs.Begun || j.Array.Live != 10 {
		t.Errorf("the array is in state %s with %d live subjobs", j.State, j.Array.Live)
	}
}

// TestArray_FailingIsSlowedAsAWhole: when starts of several subjobs in a row came to
// nothing, the others wait as one job that fails would; one that runs lets all go on.
func TestArray_FailingIsSlowedAsAWhole(t *testing.T) {
	b := newBench(t)
	b.host("h", "h:ncpus=1,mem=4gb")
	b.submit("ncpus=1 array=0-9")
	fail := func() {
		t.Helper()
		p := b.plan()
		if len(p.Starts) != 1 {
			t.Fatalf("started %q", started(p))
		}
		b.apply(p)
		h, _ := b.store.View().Host("h")
		b.do(&command.OrderConfirmed{Host: "h", Order: h.NextOrder, Refusal: pbs.Errorf(pbs.BadState, "no space")})
		b.do(&command.DeleteJob{Job: p.Starts[0].Job, Force: true}) // another one is next
	}
	for range 3 {
		fail()
	}
	if p := b.plan(); len(p.Starts) > 0 {
		t.Fatalf("started %s at once", started(p))
	}
	p := sched.Make(b.store.View(), start+3*pbs.Time(time.Second))
	if len(p.Starts) != 1 {
		t.Fatalf("started %q after the pause", started(p))
	}
	b.apply(p)
	b.do(&command.JobStarted{Source: command.Source{Host: "h", Spool: "s", Seq: 1}, Job: p.Starts[0].Job, RunCount: 1, Session: 7})
	b.do(&command.DeleteJob{Job: p.Starts[0].Job, Force: true})
	if p := b.plan(); len(p.Starts) != 1 {
		t.Errorf("started %q after one has run", started(p))
	}
}
