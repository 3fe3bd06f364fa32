package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Suspensions returns the scenarios in which jobs on one and on several hosts are suspended and resumed again and again, while
// the daemons that do it die or are cut off. They give back all that they have, or their
// cpus alone (L3, L9, L10).
func Suspensions() []Scenario {
	var all []Scenario
	add := func(name, restrict string, faults ...fault.Step) {
		s := usual("suspensions, " + name)
		s.World.Moms, s.World.Restrict, s.Load.Spread = 3, restrict, true
		s.Load.Ops, s.Load.Longest, s.Load.Pause = 60, 6*time.Second, 500*time.Millisecond
		s.Load.Mix = []load.Share{
			{Kind: check.Suspend, Percent: 20},
			{Kind: check.Resume, Percent: 35},
			{Kind: check.ReleaseNodes, Percent: 4},
			{Kind: check.List, Percent: 5},
			{Kind: check.Look, Percent: 4},
			{Kind: check.Delete, Percent: 4},
			{Kind: check.Hold, Percent: 3},
			{Kind: check.Release, Percent: 3},
			{Kind: check.Alter, Percent: 3},
			{Kind: check.Rerun, Percent: 3},
		}
		s.Load.Long = load.Tail{Percent: 60, From: 4 * time.Second, To: 9 * time.Second}
		s.Checks = append(s.Checks, check.Suspended)
		s.Faults = faults
		all = append(all, s)
	}
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	leader, follower, crashed, nobody := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Follower}, fault.Target{Role: fault.Crashed}, fault.Target{}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	for _, step := range []struct{ name, command string }{
		{"the leader dies when one is asked for", "SignalJob"},
		{"the leader dies when one is confirmed", world.SuspendDone},
	} {
		add(step.name, "", at(2, fault.Ambush, nobody, step.command), at(5, fault.Restart, crashed, ""))
		all[len(all)-1].Checks = append(all[len(all)-1].Checks, check.KilledAt(step.command))
	}
	leadersDie := []fault.Step{
		at(2, fault.Crash, leader, ""), at(4, fault.Restart, crashed, ""), at(5, fault.Crash, leader, ""),
		at(7, fault.Restart, crashed, ""), at(8, fault.Crash, leader, ""), at(10, fault.Restart, crashed, ""),
	}
	momsDie := []fault.Step{
		at(2, fault.Crash, mom(0), ""), at(3, fault.Restart, crashed, ""), at(5, fault.Crash, mom(1), ""),
		at(6, fault.Restart, crashed, ""), at(8, fault.Crash, mom(0), ""), at(10, fault.Restart, crashed, ""),
	}
	add("leaders die and only cpus are given back", "ncpus", leadersDie...)
	add("moms die", "", momsDie...)
	add("hosts are booted", "", at(3, fault.Reboot, mom(0), ""), at(5, fault.Restart, crashed, ""),
		at(7, fault.Reboot, mom(1), ""), at(9, fault.Restart, crashed, ""))
	add("a mom is cut off", "ncpus", at(3, fault.Exile, mom(0), ""), at(8, fault.Heal, nobody, ""))
	add("all replicas die at once", "", at(4, fault.Crash, leader, ""), at(4, fault.Crash, follower, ""),
		at(4, fault.Crash, follower, ""), at(6, fault.Restart, crashed, ""))
	return all
}
