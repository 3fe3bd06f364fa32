package sched_test

import (
	"fmt"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// estimated returns when a job is said to start and where.
func (b *bench) estimated(id pbs.JobID) string {
	b.t.Helper()
	v := b.store.View()
	j, ok := v.Job(id)
	if !ok {
		b.t.Fatalf("no job %s", id)
	}
	at := "never"
	if when := j.EstimatedStart(); when != 0 {
		at = "+" + time.Duration(when-start).String()
	}
	return at + " " + v.JobAttribute(j, "estimated", "exec_vnode")
}

// An array that has begun is told when its next subjob will start, as a job is, for as long as there is one.
func TestTop_ArrayThatHasBegun(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=1,mem=8gb")
	b.scheduler("strict_ordering=True")
	b.limit("backfill_depth=2")
	array := b.submit("select=1:ncpus=1 walltime=00:00:30 array=1-3")
	job := b.submit("select=1:ncpus=1 walltime=00:00:30")
	want := func(when time.Duration, estimates ...string) {
		t.Helper()
		p := sched.Make(b.store.View(), start+pbs.Time(when))
		for _, s := range p.Starts {
			b.at(when, &command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode, Comment: "Job run at noon on " + s.ExecVnode})
		}
		b.tell(p)
		if got := []string{b.estimated(array), b.estimated(job)}; got[0] != estimates[0] || got[1] != estimates[1] {
			t.Errorf("at %v: estimated %q, want %q", when, got, estimates)
		}
	}
	want(0, "+30s (hosta:ncpus=1)", "+1m0s (hosta:ncpus=1)")
	if j, _ := b.store.View().Job(array); j.State != pbs.Begun || j.CommentText() != "Job Array Began at noon" {
		t.Errorf("the array is %s: %s", j.State.Letter(), j.CommentText())
	}
	end := func(when time.Duration, index uint32) {
		b.at(when, &command.DeleteJob{Job: array.Subjob(index), Force: true})
	}
	end(30*time.Second, 1)
	want(30*time.Second, "+1m0s (hosta:ncpus=1)", "+1m30s (hosta:ncpus=1)")
	end(time.Minute, 2)
	want(time.Minute, "never ", "+1m30s (hosta:ncpus=1)")
}

// An array that has as many subjobs as may run at a time goes on when one of them ends, whatever is free.
func TestTop_ArrayAtItsLimit(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=8gb")
	b.scheduler("strict_ordering=True")
	b.submit("select=1:ncpus=1 walltime=00:01:00")
	b.apply(b.plan())
	array := b.submit("select=1:ncpus=1 walltime=00:05:00 array=1-20 most=2")
	b.apply(b.plan())
	if got, want := b.estimated(array), "+5m0s (hosta:ncpus=1)"; got != want {
		t.Errorf("estimated %q, want %q", got, want)
	}
	two := b.submit("select=1:ncpus=1 walltime=00:05:00 array=1-2 most=2")
	b.apply(b.plan())
	if got := b.estimated(two); got != "never " {
		t.Errorf("of an array of which all subjobs run %q is estimated", got)
	}
	b.do(&command.DeleteJob{Job: array.Subjob(1), Force: true})
	p := sched.Make(b.store.View(), start+pbs.Time(4*time.Minute))
	if got, want := fmt.Sprint(started(p), " ", told(p)), "1[3] "; got != want {
		t.Errorf("planned %q, want %q: the other one ends as was said", got, want)
	}
}
