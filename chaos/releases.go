package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Releases returns the scenarios in which runs over several hosts give their sisters back, while a daemon with
// a part in that dies, at every step of it (L2, L3, L9).
func Releases() []Scenario {
	var all []Scenario
	add := func(name string, faults ...fault.Step) {
		s := releasing("releases, " + name)
		s.Faults = faults
		all = append(all, s)
	}
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	leader, crashed, nobody := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	for _, step := range []struct{ name, command string }{
		{"the leader dies when one is asked for", "ReleaseNodes"},
		{"the leader dies when one is done", world.ReleaseDone},
		{"the leader dies when a host has left", world.HostLeft},
	} {
		add(step.name,
			at(1, fault.Ambush, nobody, step.command), at(4, fault.Restart, crashed, ""))
		all[len(all)-1].Checks = append(all[len(all)-1].Checks, check.KilledAt(step.command))
	}
	add("leaders die", at(2, fault.Crash, leader, ""), at(4, fault.Restart, crashed, ""), at(5, fault.Crash, leader, ""),
		at(7, fault.Restart, crashed, ""), at(8, fault.Crash, leader, ""), at(10, fault.Restart, crashed, ""))
	add("mothers superior die", at(2, fault.Crash, mom(0), ""), at(3, fault.Restart, crashed, ""), at(5, fault.Crash, mom(0), ""),
		at(5.5, fault.Restart, crashed, ""), at(8, fault.Crash, mom(0), ""), at(10, fault.Restart, crashed, ""))
	add("sisters die", at(2, fault.Crash, mom(1), ""), at(5, fault.Restart, crashed, ""), at(6, fault.Crash, mom(2), ""),
		at(9, fault.Restart, crashed, ""), at(10, fault.Crash, mom(1), ""), at(12, fault.Restart, crashed, ""))
	add("hosts of sisters are booted", at(3, fault.Reboot, mom(1), ""), at(5, fault.Restart, crashed, ""),
		at(7, fault.Reboot, mom(2), ""), at(9, fault.Restart, crashed, ""))
	add("a mother superior is cut off", at(3, fault.Exile, mom(0), ""), at(8, fault.Heal, nobody, ""))
	add("a sister is cut off", at(3, fault.Exile, mom(1), ""), at(9, fault.Heal, nobody, ""))
	add("all replicas die at once", at(4, fault.Crash, leader, ""), at(4, fault.Crash, fault.Target{Role: fault.Follower}, ""),
		at(4, fault.Crash, fault.Target{Role: fault.Follower}, ""), at(6, fault.Restart, crashed, ""))
	return all
}

// releasing returns a scenario of three moms under jobs most of which are over several of them, and
// often asked to give them back.
func releasing(name string) Scenario {
	s := usual(name)
	s.World.Moms, s.Load.Spread, s.Load.Wide, s.Load.Longest, s.Load.Ops = 3, true, true, 8*time.Second, 40
	s.Load.Mix = append([]load.Share{{Kind: check.ReleaseNodes, Percent: 20}}, s.Load.Mix...)
	s.Load.Long = load.Tail{Percent: 75, From: 5 * time.Second, To: 14 * time.Second} // else few run when they are asked
	s.Checks = append(s.Checks, check.Released)
	return s
}
