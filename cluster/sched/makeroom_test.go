package sched_test

import (
	"testing"

	"rampart/cluster/sched"

	"rampart/fsm/command"
)

// A job of an express queue that is at a limit has those preempted that count for it, and no
// others; where room is lacking, too, as many more as it takes.
func TestPreempt_ForLimits(t *testing.T) {
	for _, c := range []struct {
		name, limit, high, want string
	}{
		{"each user's", "max_run=[u:PBS_GENERIC=1]", "1", "1:S||[]"},
		{"one user's", "max_run=[u:ann=1]", "1", "1:S||[]"},
		{"everybody's", "max_run=[o:PBS_ALL=2]", "1", "1:S||[]"},
		{"of the older form", "max_user_run=1", "1", "1:S||[]"},
		{"on a resource", "max_run_res.ncpus=[u:PBS_GENERIC=1]", "1", "1:S||[]"},
		{"on a resource, of which it wants all", "max_run_res.ncpus=[o:PBS_ALL=2]", "2", "1:S 0:S||[]"},
		{"on less than it wants", "max_run_res.ncpus=[u:PBS_GENERIC=1]", "2", "||[]"},
		{"of another queue", "workq.max_run=[u:PBS_GENERIC=1]", "1", "|2|[]"},
		{"and room that is just enough", "max_run=[u:PBS_GENERIC=1]", "3", "1:S||[]"},
		{"and room that is not enough", "max_run=[u:PBS_GENERIC=1]", "4", "1:S 0:S||[]"},
		{"and too much room", "max_run=[u:PBS_GENERIC=1]", "5", "||[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.host("hosta", "hosta:ncpus=4,mem=2gb")
			b.queue("express", "200")
			b.submitAs("bob", "staff", "select=1:ncpus=1")
			b.queued("workq", "select=1:ncpus=1")
			b.run()
			b.limit(c.limit)
			b.queued("express", "select=1:ncpus="+c.high)
			if got := preempted(b.plan()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Who was suspended for a limit does not go on while it holds, though there is room, and nobody
// else is preempted on the way; two that wait get one victim each.
func TestPreempt_ForLimitsStepByStep(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=8,mem=2gb")
	b.queue("express", "200")
	b.queued("workq", "select=1:ncpus=1")
	b.queued("workq", "select=1:ncpus=1")
	b.queued("workq", "select=1:ncpus=1")
	b.run()
	b.limit("max_run=[u:PBS_GENERIC=3]")
	check := func(when, want string) {
		t.Helper()
		for range 2 {
			if got := preempted(b.plan()); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
	}
	high := b.queued("express", "select=1:ncpus=1")
	check("one waits", "2:S||[]")
	higher := b.queued("express", "select=1:ncpus=1:mem=1mb")
	check("two wait", "2:S 1:S||[]")
	b.preempting(b.plan())
	check("asked", "||[]")
	h, _ := b.store.View().Host("hosta")
	b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder - 1})
	b.do(&command.OrderConfirmed{Host: "hosta", Order: h.NextOrder})
	check("suspended", "|3 4|[]")
	b.run()
	check("at the limit", "||[]")
	b.do(&command.DeleteJob{Job: high, Force: true})
	b.do(&command.DeleteJob{Job: higher, Force: true})
	if got := b.plan().Resumes; len(got) != 2 {
		t.Errorf("below the limit %v go on", got)
	}
}

// Nobody is preempted for a job that waits for what reservations are to have of the server, which no victim leaves; and what is free it is
// not kept from others for it.
func TestPreempt_NotForWhatTheServerPromises(t *testing.T) {
	for cpus, want := range map[string]string{"4": "||[]", "3": "|3|[]"} {
		t.Run(cpus, func(t *testing.T) {
			c := newClock(t)
			c.host("hosta", "hosta:ncpus=4,mem=2gb")
			c.queue("express", "200")
			c.licenses()
			c.limit("resources_available.lic=2")
			c.in("workq", "select=1:ncpus="+cpus+" walltime=1:00:00")
			c.begin()
			c.reserve("select=1:ncpus=0 lic=2", 60, 600)
			c.decided()
			c.in("express", "select=1:ncpus=1 lic=1 walltime=1:00:00")
			c.in("workq", "select=1:ncpus=1 walltime=60")
			if got := preempted(sched.Make(c.store.View(), c.now)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
