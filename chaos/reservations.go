package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Reservations returns the scenarios with advance and standing reservations and jobs inside and outside of them, of which some cannot fit,
// while the daemons that decide, begin or end them die (L15).
func Reservations() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who}
	}
	leader, follower, crashed := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Follower}, fault.Target{Role: fault.Crashed}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	step := func(seconds float64, who fault.Target, by string) fault.Step {
		s := at(seconds, fault.StepClock, who)
		s.Value = by
		return s
	}
	outage := reserving("reservations, all replicas are down across starts and ends",
		at(5, fault.Crash, leader), at(5, fault.Crash, follower), at(5, fault.Crash, follower), at(11, fault.Restart, crashed))
	outage.Load.Pause, outage.Load.Ops = 300*time.Millisecond, 70
	outage.Load.Mix = []load.Share{ // many reservations before it
		{Kind: check.Reserve, Percent: 36},
		{Kind: check.SubmitInside, Percent: 14},
		{Kind: check.List, Percent: 6},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 3},
		{Kind: check.Hold, Percent: 4},
		{Kind: check.Release, Percent: 4},
		{Kind: check.Alter, Percent: 4},
		{Kind: check.Rerun, Percent: 2},
	}
	outage.Checks = append(outage.Checks, check.MadeGood)
	return []Scenario{
		outage,
		reserving("reservations, leaders die", at(2, fault.Crash, leader), at(4, fault.Restart, crashed), at(5, fault.Crash, leader),
			at(7, fault.Restart, crashed), at(8, fault.Crash, leader), at(10, fault.Restart, crashed)),
		reserving("reservations, moms die and a host is booted", at(3, fault.Crash, mom(0)), at(6, fault.Restart, crashed),
			at(7, fault.Reboot, mom(1)), at(9, fault.Restart, crashed), at(10, fault.Exile, mom(2)), at(13, fault.Heal, fault.Target{})),
		reserving("reservations, the clocks of leaders go ahead", step(3, leader, "40s"), at(8, fault.SetClocks, fault.Target{}), step(9, leader, "7s")),
		reserving("reservations, the clocks of leaders go back", step(3, leader, "-40s"), at(8, fault.SetClocks, fault.Target{}), step(9, leader, "-7s"),
			at(11, fault.Crash, leader), at(14, fault.Restart, crashed)),
		reserving("reservations, the clocks of followers are wrong", step(2, follower, "60s"), at(8, fault.SetClocks, fault.Target{}), step(9, follower, "-60s"),
			at(10, fault.Crash, leader), at(12, fault.Restart, crashed)),
	}
}

// reserving returns a scenario of reservations.
func reserving(name string, faults ...fault.Step) Scenario {
	s := underReservations(name)
	s.Faults, s.Checks = faults, append(s.Checks, check.Reserved, check.Denied)
	return s
}

// underReservations returns a scenario with what clients ask for.
func underReservations(name string) Scenario {
	s := usual(name)
	s.World.Moms, s.Load.Ops, s.Load.Pause, s.Load.Lasting = 3, 38, 700*time.Millisecond, 5
	s.Load.Mix = []load.Share{
		{Kind: check.Reserve, Percent: 20},
		{Kind: check.SubmitInside, Percent: 18},
		{Kind: check.MoveInside, Percent: 3},
		{Kind: check.AlterReservation, Percent: 8},
		{Kind: check.DeleteReservation, Percent: 6},
		{Kind: check.List, Percent: 6},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 4},
		{Kind: check.Hold, Percent: 4},
		{Kind: check.Release, Percent: 5},
		{Kind: check.Alter, Percent: 4},
		{Kind: check.Rerun, Percent: 3},
	}
	s.Load.Long = load.Tail{Percent: 30, From: 40 * time.Second, To: 60 * time.Second} // they outlive their reservation, or walltime
	s.Checks = append(s.Checks, check.Reservations()...)
	return s
}

// booked draws what goes wrong with reservations.
func booked(seed uint64) Scenario {
	s := underReservations(fmt.Sprintf("schedule %d", seed))
	s.World.Servers = replicas(seed)
	p := fault.Profile{
		Span: 9 * time.Second, Least: 1, Most: 3, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}
	s.Faults = p.Draw(choices(seed, "faults"))
	if r := choices(seed, "clocks"); r.IntN(3) == 0 {
		s.Faults = p.Stepped(r, s.Faults)
	}
	if r := choices(seed, "outage"); r.IntN(3) == 0 { // nobody is there across starts and ends
		s.Faults = nil
		for range s.World.Servers {
			s.Faults = append(s.Faults, fault.Step{At: 4 * time.Second, Kind: fault.Crash, Target: fault.Target{Role: fault.Follower}})
		}
		s.Faults[0].Target.Role = fault.Leader
		s.Faults = append(s.Faults, fault.Step{At: time.Duration(6+r.IntN(5)) * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}})
	}
	return s
}
