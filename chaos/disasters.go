package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
)

// Disasters returns the scenarios in which a majority of the replicas is lost with its disks, and
// the cluster is recovered with what is left. Where the last quorum held a survivor nothing
// that was acknowledged may be missing (L1), and every law holds across it; where it did not,
// the laws hold for all that the lost entries do not tell of.
func Disasters() []Scenario {
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	leader, crashed, network := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{}
	follower := func(n int) fault.Target { return fault.Target{Role: fault.Follower, N: n} }

	three := usual("two of three replicas are lost, and the third goes on")
	three.Faults = []fault.Step{
		at(2, fault.Wreck, follower(1)), at(5, fault.Wreck, leader), at(6, fault.Recover, network), at(9, fault.Restart, crashed),
	}
	twice := usual("the cluster is lost and recovered twice, under dying moms")
	twice.Faults = []fault.Step{
		at(1, fault.Wreck, follower(1)), at(3, fault.Crash, fault.Target{Role: fault.Mom}), at(3.5, fault.Wreck, leader),
		at(4, fault.Recover, network), at(5, fault.Restart, crashed), at(11, fault.Wreck, follower(0)),
		at(13, fault.Wreck, leader), at(14, fault.Recover, network), at(15, fault.Restart, crashed),
	}
	twice.For = 18 * time.Second
	five := usual("three of five replicas are lost, and of the others the furthest goes on")
	five.World.Servers = 5
	five.Faults = []fault.Step{
		at(2, fault.Wreck, follower(3)), at(2.5, fault.Wreck, follower(2)), at(5, fault.Wreck, leader),
		at(6, fault.Recover, network), at(9, fault.Restart, crashed),
	}
	lagging := usual("two of three replicas are lost, and the third lagged")
	lagging.Faults = []fault.Step{
		at(3, fault.Isolate, follower(0)), at(5, fault.Wreck, follower(1)), at(5, fault.Wreck, leader),
		at(6, fault.Recover, network), at(9, fault.Heal, network), at(9, fault.Restart, crashed),
	}
	lagging.Checks = append(lagging.Checks, check.Recovered(1), check.Lost)

	three.Checks = append(three.Checks, check.Recovered(1), check.NothingLost)
	twice.Checks = append(twice.Checks, check.Recovered(2), check.NothingLost)
	five.Checks = append(five.Checks, check.Recovered(1), check.NothingLost)
	return []Scenario{three, twice, five, lagging}
}
