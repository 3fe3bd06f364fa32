package chaos

import (
	"cmp"
	"fmt"
	"time"

	"rampart/chaos/fault"
	"rampart/cluster/store"
	"rampart/cmd/rampart/server"
)

// writes are the kinds of writes to a replica's disk.
var writes = []string{store.WriteAppend, store.WriteStable, store.WriteDelete, store.WriteSnapshot, server.WriteLedger}

// Stalls returns the scenarios in which the disks of one, two or all replicas do not answer for a
// while, for all writes or those of a kind. No process ends by it (L12), and nothing is lost.
func Stalls() []Scenario {
	leader, network := fault.Target{Role: fault.Leader}, fault.Target{}
	follower, all := fault.Target{Role: fault.Follower}, fault.Target{Role: fault.Replicas}
	var scenarios []Scenario
	add := func(who string, d time.Duration, kind string, targets ...fault.Target) {
		s := usual(fmt.Sprintf("the disk of %s stalls for %s, %s", who, d, cmp.Or(kind, "all writes")))
		const at = 2 * time.Second
		for _, t := range targets {
			s.Faults = append(s.Faults, fault.Step{At: at, Kind: fault.Stall, Target: t, Value: kind})
		}
		s.Faults = append(s.Faults, fault.Step{At: at + d, Kind: fault.Flow, Target: network})
		s.For = max(s.For, at+d+5*time.Second)
		scenarios = append(scenarios, s)
	}
	for _, d := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 2 * time.Minute} {
		add("the leader", d, "", leader)
		add("a follower", d, "", follower)
		add("the leader and a follower", d, "", leader, follower)
		add("all replicas", d, "", all)
	}
	for _, kind := range writes {
		add("the leader", 4*time.Second, kind, leader)
		add("a follower", 4*time.Second, kind, follower)
		add("all replicas", 4*time.Second, kind, all)
	}
	dies := usual("a replica with a stalled disk dies, and its write is done late")
	dies.Faults = []fault.Step{
		{At: 2 * time.Second, Kind: fault.Stall, Target: leader},
		{At: 2500 * time.Millisecond, Kind: fault.Crash, Target: leader},
		{At: 5 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
		{At: 7 * time.Second, Kind: fault.Stall, Target: all},
		{At: 9 * time.Second, Kind: fault.Crash, Target: leader},
		{At: 10 * time.Second, Kind: fault.Flow},
		{At: 11 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
	}
	return append(scenarios, dies)
}
