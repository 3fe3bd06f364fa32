package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Sicknesses returns the scenarios with hosts that live and cannot start programs, for want of processes or of room on their disks, and are
// well again later (L14). The first hosts, which the scheduler would take, fall sick; the last one is always well.
func Sicknesses() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	nobody, leader, crashed := fault.Target{}, fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	var all []Scenario
	add := func(name string, faults ...fault.Step) {
		s := sickness("sickness, " + name)
		s.Faults, s.Checks = faults, append(s.Checks, check.Sickened)
		all = append(all, s)
	}
	add("a host has no processes", at(0.5, fault.Sicken, mom(0), fault.Forkless), at(15, fault.Cure, nobody, ""))
	add("the disk of a host takes a third", at(0.5, fault.Sicken, mom(0), fault.Flaky), at(15, fault.Cure, nobody, ""))
	add("two hosts of three, each with its own", at(0.5, fault.Sicken, mom(0), fault.Forkless), at(2, fault.Sicken, mom(1), fault.Flaky), at(14, fault.Cure, nobody, ""))
	add("and the leader dies", at(0.5, fault.Sicken, mom(0), fault.Forkless), at(4, fault.Crash, leader, ""), at(7, fault.Restart, crashed, ""), at(14, fault.Cure, nobody, ""))
	add("a host relapses", at(0.5, fault.Sicken, mom(0), fault.Forkless), at(3, fault.Cure, nobody, ""), at(9, fault.Sicken, mom(0), fault.Forkless), at(15, fault.Cure, nobody, ""))
	return all
}

// sickness returns a scenario of three moms of which some fall sick.
func sickness(name string) Scenario {
	s := usual(name)
	s.World.Moms, s.For = 3, 18*time.Second
	s.Checks = append(s.Checks, check.NobodyWaits)
	return s
}

// sick draws which hosts fall sick with what, and what else goes wrong: at most one fault of a replica, for nothing starts without
// a quorum.
func sick(seed uint64) Scenario {
	s := sickness(fmt.Sprintf("schedule %d", seed))
	p := fault.Profile{Span: 9 * time.Second, Most: 1, Longest: 3 * time.Second}
	r := choices(seed, "sick")
	s.Faults = p.Sickened(r, p.Draw(choices(seed, "faults")), s.World.Moms-1)
	s.Load.Spread = r.IntN(2) == 0
	return s
}

// Elsewheres returns the scenarios in which a sister of a run dies before it has joined: the fence of its host expires in minutes, and the job
// runs elsewhere before (L2).
func Elsewheres() []Scenario {
	var all []Scenario
	for _, loss := range []struct {
		how  string
		kind fault.Kind
	}{{"dies", fault.Topple}, {"is booted", fault.Waylay}, {"is cut off", fault.Exile}} {
		s := usual("elsewhere, a sister " + loss.how + " before it has joined")
		s.World.Moms, s.Load.Spread, s.Load.Wide, s.Load.Ops, s.For = 3, true, true, 16, 80*time.Second
		s.Load.Mix = []load.Share{{Kind: check.List, Percent: 20}, {Kind: check.Look, Percent: 10}, {Kind: check.Alter, Percent: 15}}
		s.Faults = []fault.Step{
			{At: time.Second, Kind: loss.kind, Target: fault.Target{Role: fault.Mom, N: 1}, Value: world.LifeGiven},
			{At: 75 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
			{At: 75 * time.Second, Kind: fault.Heal},
		}
		s.Checks = append(s.Checks, check.LostAt(world.LifeGiven, true), check.Elsewhere(world.LifeGiven, time.Minute))
		all = append(all, s)
	}
	return all
}
