package sched_test

import "testing"

// A job that may preempt nobody since it would delay a top job keeps no shorter one of the same request from that, and one
// with other targets does not either.
func TestPreempt_OneJobsReasonsAreItsOwn(t *testing.T) {
	for _, c := range []struct{ name, first string }{
		{"it is too long", "select=1:ncpus=2 walltime=10:00:00"},
		{"it has no targets", "select=1:ncpus=2 walltime=00:10:00 preempt_targets=NONE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4")
			b.queue("express", "200")
			b.scheduler("strict_ordering=True")
			b.queued("workq", "select=1:ncpus=2 walltime=08:00:00")
			b.queued("express", "select=1:ncpus=2 walltime=01:00:00")
			b.run()
			b.queued("express", "select=1:ncpus=4 walltime=01:00:00 preempt_targets=NONE") // it comes next, in an hour or eight
			b.queued("express", c.first)
			b.queued("express", "select=1:ncpus=2 walltime=00:10:00")
			if got, want := preempted(b.plan()), "0:S||[]"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
