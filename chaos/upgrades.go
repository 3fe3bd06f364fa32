package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/fsm/command"
)

// Upgrades returns the scenarios with names in which builds of two feature levels run together
// (L4): they start below the present level, and each replica is replaced at some time.
func Upgrades() []Scenario {
	leader, follower, crashed := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Follower}, fault.Target{Role: fault.Crashed}
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	var all []Scenario
	add := func(name string, level uint32, steps ...fault.Step) {
		s := usual("upgrade: " + name)
		s.World.Older, s.Faults = true, steps
		s.For = steps[len(steps)-1].At + 12*time.Second // digests are compared once more
		s.Load.Ops = int(s.For / s.Load.Pause)
		s.Checks = append(s.Checks, check.Level(level))
		all = append(all, s)
	}
	add("one by one, and the leader dies under each mix", command.FeatureLevel,
		at(2, fault.Upgrade, follower), at(6, fault.Crash, leader), at(8, fault.Restart, crashed),
		at(12, fault.Upgrade, follower), at(16, fault.Crash, leader), at(18, fault.Restart, crashed),
		at(22, fault.Upgrade, leader), at(23, fault.Upgrade, follower), at(30, fault.Crash, leader), at(32, fault.Restart, crashed))
	add("leaders first, there and back and there again", command.FeatureLevel,
		at(2, fault.Upgrade, leader), at(6, fault.Upgrade, leader), at(10, fault.Downgrade, leader), at(12, fault.Downgrade, follower),
		at(16, fault.Upgrade, leader), at(18, fault.Upgrade, leader), at(20, fault.Upgrade, leader), at(21, fault.Upgrade, follower),
		at(22, fault.Upgrade, follower))
	add("the last replica stays as it is", command.FeatureLevel-1,
		at(2, fault.Upgrade, follower), at(6, fault.Upgrade, follower), at(10, fault.Crash, leader), at(12, fault.Restart, crashed),
		at(14, fault.Isolate, leader), at(18, fault.Heal, fault.Target{}))
	add("the last replica is down while the others are new", command.FeatureLevel-1,
		at(2, fault.Upgrade, follower), at(5, fault.Upgrade, follower), at(8, fault.Crash, leader), at(20, fault.Restart, crashed))
	return all
}
