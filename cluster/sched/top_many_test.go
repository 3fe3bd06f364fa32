package sched_test

import (
	"strings"
	"testing"
)

// As many jobs have their starts kept as backfill_depth says, one behind the other.
func TestTop_AsManyAsAsked(t *testing.T) {
	b := newBench(t)
	b.scheduler("strict_ordering=True")
	b.limit("backfill_depth=100")
	b.host("hosta", "hosta:ncpus=1")
	b.submit("select=1:ncpus=1 walltime=01:00:00")
	b.apply(b.plan())
	for range 101 {
		b.submit("select=1:ncpus=1 walltime=01:00:00")
	}
	got := told(b.plan())
	if n := strings.Count(got, " start +"); n != 100 || !strings.Contains(got, "\n100 start +100h0m0s on (hosta:ncpus=1)") {
		t.Errorf("%d starts are foretold:\n%s", n, got)
	}
}

// A top job has a time before that of another one, if it is over by then.
func TestTop_BeforeAnother(t *testing.T) {
	for long, want := range map[string]string{"02:00:00": "+1h0m0s", "02:00:01": "+4h0m0s"} {
		b := newBench(t)
		b.scheduler("strict_ordering=True")
		b.limit("backfill_depth=2")
		b.host("hosta", "hosta:ncpus=4")
		b.submit("select=1:ncpus=2 walltime=01:00:00")
		b.submit("select=1:ncpus=2 walltime=03:00:00")
		b.apply(b.plan())
		b.submit("select=1:ncpus=4 walltime=01:00:00")
		b.submit("select=1:ncpus=2 walltime=" + long)
		if got := told(b.plan()); !strings.Contains(got, "2 start +3h0m0s on (hosta:ncpus=4)") || !strings.Contains(got, "3 start "+want+" on (hosta:ncpus=2)") {
			t.Errorf("with %s the second one is expected at %s:\n%s", long, want, got)
		}
	}
}

// What a top job has when another one starts does not count again for what a reservation is to have later.
func TestTop_BesideAnotherAndAReservation(t *testing.T) {
	b := newBench(t)
	b.scheduler("strict_ordering=True")
	b.limit("backfill_depth=2")
	b.host("hosta", "hosta:ncpus=6")
	c := &clock{b, start}
	c.reserve("select=1:ncpus=3", 3600, 3*3600)
	b.submit("select=1:ncpus=6 walltime=01:00:00")
	c.begin()
	b.submit("select=1:ncpus=5 walltime=01:00:00")
	b.submit("select=1:ncpus=1 walltime=05:00:00")
	if got := told(b.plan()); strings.Count(got, " start +1h0m0s on ") != 2 {
		t.Errorf("both fit in an hour:\n%s", got)
	}
}

// A job that fits, but only where it delays a top job, has one of a lower level preempted without which it does not.
func TestPreempt_ForWhatATopJobIsToHave(t *testing.T) {
	for long, want := range map[string]string{"02:00:00": "0:S||[]", "10:00:00": "0:S||[]", "00:50:00": "|3|[]"} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=4")
		b.queue("express", "200")
		b.scheduler("strict_ordering=True")
		b.queued("workq", "select=1:ncpus=1 walltime=08:00:00")
		b.queued("express", "select=1:ncpus=2 walltime=01:00:00")
		b.run()
		b.queued("express", "select=1:ncpus=3 walltime=01:00:00 preempt_targets=NONE") // it comes next, in an hour
		b.queued("express", "select=1:ncpus=1 walltime="+long)
		if got := preempted(b.plan()); got != want {
			t.Errorf("for %s: %s, want %s", long, got, want)
		}
	}
}
