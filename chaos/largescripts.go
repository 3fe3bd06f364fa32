package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/fsm/pbs"
)

// LargeScripts returns the experiments with scripts that are too large for the log: whoever lacks
// one fetches it, each job runs its own, and at the end none is left behind.
func LargeScripts() []Scenario {
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	leader, follower := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Follower}
	crashed, network := fault.Target{Role: fault.Crashed}, fault.Target{}
	dies := usual("a leader dies between a large script and its job")
	dies.Faults = []fault.Step{{At: 3 * time.Second, Kind: fault.Ambush, Value: "SubmitJob"}, at(6, fault.Restart, crashed)}
	dies.Checks = append(dies.Checks, check.KilledAt("SubmitJob"))
	all := []Scenario{
		{Name: "leaders die while large scripts come", Faults: []fault.Step{
			at(2, fault.Crash, leader), at(4, fault.Restart, crashed), at(5, fault.Crash, leader), at(7, fault.Restart, crashed),
			at(8, fault.Crash, follower), at(10, fault.Restart, crashed),
		}},
		{Name: "a follower is away until only a snapshot and large scripts bring it back", Faults: []fault.Step{
			at(1, fault.Exile, follower), at(14, fault.Heal, network),
		}},
		{Name: "large scripts come while answers are lost", Faults: []fault.Step{
			at(1, fault.LoseReplies, leader), at(2, fault.Sever, network), at(3, fault.Heal, network),
			at(4, fault.Isolate, leader), at(8, fault.Heal, network),
		}},
	}
	for i, s := range all {
		all[i] = usual(s.Name)
		all[i].Faults = s.Faults
	}
	all = append(all, dies)
	for i := range all {
		all[i].World.Scripts = pbs.LargeScript + 1000
	}
	return all
}
