package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Rivalries returns the scenarios in which jobs of an express queue have others suspended, while a daemon with a part in that dies: some want
// their vnodes for themselves, and a suspended job gives back all, or nothing that the other needs.
func Rivalries() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who}
	}
	leader, crashed := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	once := rivalry("rivalries, the leader dies", "", at(6, fault.Crash, leader), at(9, fault.Restart, crashed))
	leaders := rivalry("rivalries, leaders die and only memory is given back", "mem",
		at(3, fault.Crash, leader), at(5, fault.Restart, crashed), at(7, fault.Crash, leader), at(9, fault.Restart, crashed))
	moms := rivalry("rivalries, moms die and only cpus are given back", "ncpus",
		at(3, fault.Crash, mom(0)), at(4, fault.Restart, crashed), at(6, fault.Crash, mom(1)), at(8, fault.Restart, crashed))
	all := []Scenario{once, leaders, moms}
	for i := range all {
		all[i].Checks = append(all[i].Checks, check.Preempted)
	}
	return all
}

// rivalry returns a scenario of jobs that preempt each other.
func rivalry(name, restrict string, faults ...fault.Step) Scenario {
	s := usual(name)
	s.World.Restrict, s.World.Express = restrict, true
	s.Load.Alone, s.Load.Spread, s.Load.Single, s.Load.Ops = true, true, "1:ncpus=2", 32
	s.Load.Pause = 600 * time.Millisecond
	s.Load.Mix = []load.Share{
		{Kind: check.List, Percent: 8},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 6},
		{Kind: check.Hold, Percent: 3},
		{Kind: check.Release, Percent: 4},
		{Kind: check.Alter, Percent: 12},
		{Kind: check.Rerun, Percent: 3},
	}
	s.Load.Long = load.Tail{Percent: 60, From: 3 * time.Second, To: 7 * time.Second}
	s.Faults = faults
	return s
}

// rivals draws a rivalry and what goes wrong in it.
func rivals(seed uint64) Scenario {
	r := choices(seed, "rivals")
	s := rivalry(fmt.Sprintf("schedule %d", seed), []string{"", "mem", "ncpus", "ncpus,mem"}[r.IntN(4)])
	s.World.Servers = replicas(seed)
	s.Faults = fault.Profile{
		Span: 9 * time.Second, Least: 1, Most: 3, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}.Draw(choices(seed, "faults"))
	return s
}
