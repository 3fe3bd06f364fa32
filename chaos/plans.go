package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Plans are jobs of a queue of LSF that are planned by time, as lsf.conf and lsb.queues have it, beside more jobs than there is room for that come
// later and of which the short ones may go ahead, while leaders and moms die (L15): plans hold, and in the end all have run.
func Plans() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	leader, crashed, mom, nobody := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{Role: fault.Mom}, fault.Target{}
	all := []Scenario{
		planning("plans, leaders die in the middle of them",
			at(5, fault.Crash, leader, ""), at(7, fault.Restart, crashed, ""), at(11, fault.Crash, leader, ""), at(13, fault.Restart, crashed, ""),
			at(18, fault.Crash, leader, ""), at(20, fault.Restart, crashed, "")),
		planning("plans, the leader dies when it has told one",
			at(6, fault.Ambush, nobody, "KeepPending"), at(12, fault.Restart, crashed, ""), at(16, fault.Ambush, nobody, "KeepPending"), at(20, fault.Restart, crashed, "")),
		planning("plans, a host dies of which something is planned",
			at(5, fault.Crash, mom, ""), at(7, fault.Restart, crashed, ""), at(12, fault.Reboot, mom, ""), at(14, fault.Restart, crashed, "")),
	}
	all[1].Checks = append(all[1].Checks, check.KilledAt("KeepPending"))
	return all
}

// planning returns a scenario of jobs with plans.
func planning(name string, faults ...fault.Step) Scenario {
	s := usual(name)
	s.World.Plans, s.World.Moms = true, 3
	s.For, s.Rest = 30*time.Second, 10*time.Minute // there is more to run than there is room for
	s.Load.Spread, s.Load.Opening, s.Load.Single, s.Load.Selects = true, true, "1:ncpus=2", []string{"2:ncpus=4", "2:ncpus=1", "3:ncpus=3"}
	s.Load.Ops, s.Load.Pause, s.Load.Lasting = 40, 900*time.Millisecond, 9
	s.Load.Mix = []load.Share{
		{Kind: check.List, Percent: 8},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 8},
		{Kind: check.Hold, Percent: 6},
		{Kind: check.Release, Percent: 6},
		{Kind: check.Rerun, Percent: 4},
	}
	s.Load.Long = load.Tail{Percent: 60, From: 4 * time.Second, To: 8 * time.Second} // within their walltime: estimates hold
	s.Faults = faults
	s.Checks = append(s.Checks, check.KeptIsThere, check.PlansKept, check.SomePlanned)
	return s
}

// planned draws what goes wrong while jobs wait with plans.
func planned(seed uint64) Scenario {
	s := planning(fmt.Sprintf("schedule %d", seed))
	s.World.Servers = replicas(seed)
	s.Faults = fault.Profile{
		Span: 20 * time.Second, Least: 1, Most: 4, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}.Draw(choices(seed, "faults"))
	return s
}
