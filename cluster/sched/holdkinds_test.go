package sched_test

import (
	"slices"
	"strings"
	"testing"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// heldBy writes what a job holds of a vnode, now or later, in seconds from now.
func (c *clock) heldBy(vnode pbs.VnodeName, id pbs.JobID) string {
	all := strings.Split(c.holds(vnode), "; ")
	all = slices.DeleteFunc(all, func(text string) bool { return !strings.Contains(text, " "+string(id)+" ") })
	return strings.Join(all, "; ")
}

func (c *turning) heldBy(vnode pbs.VnodeName, name string) string {
	return (&clock{c.bench, c.now}).heldBy(vnode, c.names[name])
}

// answers has a host answer its last order.
func (c *clock) answers(host pbs.HostName) {
	c.t.Helper()
	h, _ := c.store.View().Host(host)
	c.must(&command.OrderConfirmed{Host: h.Name, Order: h.NextOrder})
}

// A suspended run holds what it did not give back, for as long as nobody knows, and is no user of its vnode.
func TestHolds_Suspended(t *testing.T) {
	c := newClock(t)
	c.limit("restrict_res_to_release_on_suspend=ncpus")
	c.host("hosta", "hosta:ncpus=4,mem=4gb")
	id := c.submit("select=1:ncpus=4:mem=1gb walltime=600")
	c.begin()
	c.must(&command.SignalJob{Job: id, Signal: command.Suspend})
	if got, want := c.heldBy("hosta", id), "running job 0.srv 0..600 mem=1048576 ncpus=4"; got != want {
		t.Errorf("before the mom has done it: %s, want %s", got, want)
	}
	c.answers("hosta")
	if got, want := c.heldBy("hosta", id), "suspended job 0.srv 0..forever mem=1048576 ncpus=0"; got != want {
		t.Errorf("suspended: %s, want %s", got, want)
	}
	alone := c.submit("select=1:ncpus=4:mem=3gb place=excl walltime=60")
	if got, want := c.fit(alone, ""), "0 (hosta:ncpus=4:mem=3145728kb)"; got != want {
		t.Errorf("beside it fits %s, want %s", got, want)
	}
	more := c.submit("select=1:ncpus=1:mem=4gb walltime=60")
	if got := c.fit(more, ""); got != "never" {
		t.Errorf("the memory that it keeps: %s", got)
	}
}

// What a run gives back is held until its host has left, for which no time is known but the end of the run.
func TestHolds_Released(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	c.host("hostb", "hostb:ncpus=4")
	id := c.submit("select=2:ncpus=4 place=scatter walltime=600")
	c.begin()
	c.must(&command.ReleaseNodes{Job: id, Vnodes: []string{"hostb"}})
	if got, want := c.heldBy("hostb", id), "running job 0.srv 0..600 ncpus=4"; got != want {
		t.Errorf("before the mom has done it: %s, want %s", got, want)
	}
	c.answers("hosta")
	for vnode, want := range map[pbs.VnodeName]string{
		"hosta": "running job 0.srv 0..600 ncpus=4", "hostb": "released by a running job 0.srv 0..600 ncpus=4",
	} {
		if got := c.heldBy(vnode, id); got != want {
			t.Errorf("%s: %s, want %s", vnode, got, want)
		}
	}
	c.wait(100)
	next := c.submit("select=1:ncpus=4:host=hostb walltime=60")
	if got, want := c.fit(next, ""), "500 (hostb:ncpus=4)"; got != want {
		t.Errorf("what is being released: %s, want %s", got, want)
	}
	h, _ := c.store.View().Host("hostb")
	j, _ := c.store.View().Job(id)
	c.must(&command.JobEnded{Source: command.Source{Host: h.Name, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: j.RunCount})
	if got := c.heldBy("hostb", id); got != "" {
		t.Errorf("its host has left: %s", got)
	}
	if got, want := c.fit(next, ""), "0 (hostb:ncpus=4)"; got != want {
		t.Errorf("what its host has left: %s, want %s", got, want)
	}
}

// A reservation that a cycle has decided has what it was given, for the rest of the cycle.
func TestHolds_Pending(t *testing.T) {
	c := newClock(t)
	c.host("hosta", "hosta:ncpus=4")
	first, second, apart := c.reserve("select=1:ncpus=3", 60, 600), c.reserve("select=1:ncpus=2", 60, 659), c.reserve("select=1:ncpus=4", 60, 660+59)
	job := c.submit("select=1:ncpus=2 walltime=700")
	if got := c.holds("hosta"); got != "" {
		t.Errorf("before it is decided: %s", got)
	}
	p := c.decided()
	if a, b, o := c.given(first), c.given(second), c.given(apart); a != "CO (hosta:ncpus=3)" || b != "gone" || o != "CO (hosta:ncpus=4)" {
		t.Errorf("given %s, %s, %s", a, b, o)
	}
	if len(p.Starts) != 0 {
		t.Errorf("%s starts in the cycle that has promised its vnode: %v", job, p.Starts)
	}
	if got := calendar.Pending.Reserves() && calendar.Pending.Uses() && !calendar.Pending.Runs(); !got {
		t.Error("a pending reservation is no reservation")
	}
}

// What is kept for a job that waits is held from when it has begun to wait until the run is over that is expected of it.
func TestHolds_Kept(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=4,mem=1gb")
	c.job("job1", "normal", "select=1:ncpus=1 walltime=2:00:00")
	c.until(passed(60))
	c.job("job2", "slots", "select=4:ncpus=1 walltime=1:00:00")
	c.until(passed(1800))
	c.want("T0+1800", "job2: 3/0*hosta, 22 17:00:00")
	if got, want := c.heldBy("hosta", "job2"), "kept for a job that waits 1.srv 0..9000 ncpus=3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.kill(c.names["job1"])
	c.until(passed(2400))
	if got := c.heldBy("hosta", "job2"); !strings.HasPrefix(got, "running job 1.srv 0..") || strings.Contains(got, "kept") {
		t.Errorf("once it runs: %s", got)
	}
}

// What a run holds for a time only is apart from the rest, which it holds to its end.
func TestHolds_Fading(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=10,swp=150mb")
	c.requiring("a", "normal", "rusage[swp=100:duration=30]", "1:ncpus=1:swp=100mb", "1:00:00")
	for _, x := range []struct {
		after int
		want  string
	}{
		{0, "held for a time by a running job 0.srv 0..1800 swp=102400; running job 0.srv 0..3600 ncpus=1"},
		{1799, "held for a time by a running job 0.srv 0..1 swp=102400; running job 0.srv 0..1801 ncpus=1"},
		{1800, "running job 0.srv 0..1800 ncpus=1"},
	} {
		c.until(passed(x.after))
		if got := c.heldBy("hosta", "a"); got != x.want {
			t.Errorf("T0+%d: %s, want %s", x.after, got, x.want)
		}
	}
}
