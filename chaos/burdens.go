package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Burdens returns the scenarios in which the load of hosts suspends jobs, which go on when it has gone, while leaders and moms die (L3, L5): each
// suspension is for a load that was there, one of a host at a time whoever leads, and in the end all jobs have run.
func Burdens() []Scenario {
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	leader, crashed, mom, nobody := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{Role: fault.Mom}, fault.Target{}
	second := fault.Target{Role: fault.Mom, N: 1}
	all := []Scenario{
		burdened("burdens, leaders die",
			at(2, fault.Burden, mom, "3"), at(5, fault.Burden, second, "4"), at(8, fault.Crash, leader, ""), at(10, fault.Restart, crashed, ""),
			at(13, fault.Crash, leader, ""), at(15, fault.Restart, crashed, ""), at(24, fault.Relieve, nobody, ""), at(26, fault.Crash, leader, ""), at(28, fault.Restart, crashed, "")),
		burdened("burdens, the leader dies when load suspends a job",
			at(2, fault.Burden, mom, "3"), at(3, fault.Ambush, nobody, "StopForLoad"), at(12, fault.Restart, crashed, ""), at(25, fault.Relieve, nobody, "")),
		burdened("burdens, the host dies whose load suspends jobs",
			at(2, fault.Burden, mom, "3"), at(12, fault.Crash, mom, ""), at(14, fault.Restart, crashed, ""), at(20, fault.Reboot, mom, ""), at(22, fault.Restart, crashed, ""),
			at(24, fault.Relieve, nobody, "")),
	}
	all[1].Checks = append(all[1].Checks, check.KilledAt("StopForLoad"))
	return all
}

// burdened returns a scenario of jobs on hosts that are busy at times.
func burdened(name string, faults ...fault.Step) Scenario {
	s := usual(name)
	s.World.Busy = true
	s.For, s.Rest = 30*time.Second, 10*time.Minute // jobs go on one after the other, one of a host in a turn
	s.Load.Spread, s.Load.Opening, s.Load.Ops, s.Load.Pause = true, true, 30, 900*time.Millisecond
	s.Load.Mix = []load.Share{
		{Kind: check.List, Percent: 10},
		{Kind: check.Look, Percent: 8},
		{Kind: check.Hold, Percent: 5},
		{Kind: check.Release, Percent: 6},
		{Kind: check.Alter, Percent: 5},
		{Kind: check.Rerun, Percent: 3},
		{Kind: check.Delete, Percent: 3},
	}
	s.Load.Long = load.Tail{Percent: 60, From: 10 * time.Second, To: 25 * time.Second}
	s.Faults = faults
	s.Checks = append(s.Checks, check.StoppedByLoad, check.SomeStopped)
	return s
}

// burdens draws what goes wrong while load suspends jobs.
func burdens(seed uint64) Scenario {
	s := burdened(fmt.Sprintf("schedule %d", seed))
	s.Checks = s.Checks[:len(s.Checks)-1] // what is drawn may suspend nobody
	s.World.Servers = replicas(seed)
	faults := fault.Profile{
		Span: 20 * time.Second, Least: 1, Most: 3, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}.Draw(choices(seed, "faults"))
	r := choices(seed, "burdens")
	for n := range s.World.Moms {
		from := time.Duration(r.Int64N(int64(8 * time.Second)))
		faults = append(faults,
			fault.Step{At: from, Kind: fault.Burden, Target: fault.Target{Role: fault.Mom, N: n}, Value: strconv.FormatFloat(1.5+2*r.Float64(), 'f', 2, 64)},
			fault.Step{At: from + 8*time.Second + time.Duration(r.Int64N(int64(10*time.Second))), Kind: fault.Relieve})
	}
	slices.SortStableFunc(faults, func(a, b fault.Step) int { return int(a.At - b.At) })
	s.Faults = faults
	return s
}
