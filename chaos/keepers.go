package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Keepers returns the scenarios in which jobs of a queue keep what is free while they wait; they need both cpus of a host of which others leave one,
// while leaders and moms die (L3): what is kept is there, goes with its time, and in the end all of them have run.
func Keepers() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who}
	}
	leader, crashed, mom := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{Role: fault.Mom}
	return []Scenario{
		keeper("keepers, leaders die",
			at(3, fault.Crash, leader), at(5, fault.Restart, crashed), at(7, fault.Crash, leader), at(9, fault.Restart, crashed), at(11, fault.Crash, leader), at(13, fault.Restart, crashed)),
		keeper("keepers, the host dies of which something is kept",
			at(4, fault.Crash, mom), at(6, fault.Restart, crashed), at(9, fault.Reboot, mom), at(11, fault.Restart, crashed)),
	}
}

// keeper returns a scenario of jobs that keep what is free.
func keeper(name string, faults ...fault.Step) Scenario {
	s := usual(name)
	s.World.Keeps = true
	s.Load.Spread, s.Load.Single, s.Load.Ops, s.Load.Lasting = true, "1:ncpus=2", 32, 30
	s.Load.Opening = true // whatever else is drawn, a job over two hosts ends before another and leaves a cpu of each
	s.Load.Pause = 600 * time.Millisecond
	s.Load.Mix = []load.Share{
		{Kind: check.List, Percent: 8},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 6},
		{Kind: check.Hold, Percent: 4},
		{Kind: check.Release, Percent: 5},
		{Kind: check.Alter, Percent: 8},
		{Kind: check.Rerun, Percent: 4},
	}
	s.Load.Long = load.Tail{Percent: 60, From: 3 * time.Second, To: 7 * time.Second}
	s.Faults = faults
	s.Checks = append(s.Checks, check.KeptIsThere, check.SomeKeep)
	return s
}

// kept draws what goes wrong while jobs keep something.
func kept(seed uint64) Scenario {
	s := keeper(fmt.Sprintf("schedule %d", seed))
	s.World.Servers = replicas(seed)
	s.Faults = fault.Profile{
		Span: 9 * time.Second, Least: 1, Most: 3, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}.Draw(choices(seed, "faults"))
	return s
}
