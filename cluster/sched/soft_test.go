package sched_test

import (
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/pbs"
)

// TestSoftWalltime: runs are expected to end with their soft_walltime, and when that is over to take as long again, up to
// their walltime; jobs pass a top job if they are expected to end before it starts.
func TestSoftWalltime(t *testing.T) {
	b := newBench(t)
	b.raise()
	b.scheduler("strict_ordering=True")
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.submit("select=1:ncpus=3 walltime=00:50:00 soft_walltime=00:20:00")
	b.apply(b.plan())
	b.submit("select=1:ncpus=4 walltime=01:00:00")
	b.submit("select=1:ncpus=1 walltime=02:00:00 soft_walltime=00:30:00")
	b.submit("select=1:ncpus=1 walltime=02:00:00 soft_walltime=00:10:00")
	for _, c := range []struct {
		after    time.Duration
		starts   string
		expected time.Duration // of job 1
	}{{0, "3", 20 * time.Minute}, {19 * time.Minute, "", 20 * time.Minute}, {20 * time.Minute, "3", 40 * time.Minute}, {45 * time.Minute, "", 50 * time.Minute}} {
		p := sched.Make(b.store.View(), start+pbs.Time(c.after))
		var at time.Duration
		for _, said := range p.Comments {
			if said.Job.Number() == "1" {
				at = time.Duration(said.Start - start)
			}
		}
		if got := started(p); got != c.starts || at != c.expected {
			t.Errorf("after %v: %q starts, and 1 is expected to at +%v, want %q and +%v", c.after, got, at, c.starts, c.expected)
		}
	}
}
