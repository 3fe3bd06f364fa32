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
	for _, reserved := range []bool{false, true} {
		softWalltime(t, reserved)
	}
}

func softWalltime(t *testing.T, reserved bool) {
	b := newClock(t)
	b.scheduler("strict_ordering=True")
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	if reserved {
		b.host("hostb", "hostb:ncpus=1,mem=8gb")
		b.reserve("select=1:ncpus=1:host=hostb", 24*3600, 60)
		b.decided()
	}
	names := map[pbs.JobID]string{}
	b.submit("select=1:ncpus=3 walltime=00:50:00 soft_walltime=00:20:00")
	b.apply(b.plan())
	top := b.submit("select=1:ncpus=4 walltime=01:00:00")
	names[b.submit("select=1:ncpus=1 walltime=02:00:00 soft_walltime=00:30:00")] = "long"
	names[b.submit("select=1:ncpus=1 walltime=02:00:00 soft_walltime=00:10:00")] = "short"
	for _, c := range []struct {
		after    time.Duration
		starts   string
		expected time.Duration // of the top job
	}{{0, "short", 20 * time.Minute}, {19 * time.Minute, "", 20 * time.Minute}, {20 * time.Minute, "short", 40 * time.Minute}, {45 * time.Minute, "", 50 * time.Minute}} {
		p := sched.Make(b.store.View(), b.now+pbs.Time(c.after))
		var at time.Duration
		for _, said := range p.Comments {
			if said.Job == top {
				at = time.Duration(said.Start - start)
			}
		}
		got := ""
		for _, s := range p.Starts {
			got += names[s.Job]
		}
		if got != c.starts || at != c.expected {
			t.Errorf("reservations: %v, after %v: %q starts, and the top job is expected to at +%v, want %q and +%v", reserved, c.after, got, at, c.starts, c.expected)
		}
	}
}

// Reservations count on no soft_walltime: neither is a job started that may last into one, nor is one confirmed where a run may last.
func TestSoftWalltime_BesideReservations(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	c.reserve("select=1:ncpus=4", 600, 3600)
	c.decided()
	c.in("", "select=1:ncpus=2 walltime=01:10:00 soft_walltime=00:10:00")
	short := c.in("", "select=1:ncpus=2 walltime=00:50:00 soft_walltime=00:10:00")
	if got := started(c.begin()); got != short.Number() {
		t.Errorf("%q starts, want %s alone", got, short.Number())
	}
	for at, want := range map[int]string{1200: "RF", 3000: "CO"} {
		early := c.reserve("select=1:ncpus=4", 60, at)
		why := ""
		for _, d := range c.decided().Decisions {
			if why = "CO"; d.Why != "" {
				why = "RF"
			}
		}
		if why != want {
			t.Errorf("%s after %d s: %s, want %s", early, at, why, want)
		}
	}
}
