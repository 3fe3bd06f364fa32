package chaos

import (
	"time"

	"rampart/chaos/fault"
)

// Crowds returns the experiments with more than three replicas, of which as many die at once as
// may: the others go on without them.
func Crowds() []Scenario {
	return []Scenario{
		crowd("five replicas lose the leader and another at once", 5, 1),
		crowd("seven replicas lose the leader and two others at once", 7, 2),
	}
}

// crowd returns a scenario in which the leader and some followers die at one moment, and again.
func crowd(name string, servers, followers int) Scenario {
	s := usual(name)
	s.World.Servers = servers
	for _, at := range []time.Duration{2 * time.Second, 9 * time.Second} {
		for range followers { // each is the first of those that are left
			s.Faults = append(s.Faults, fault.Step{At: at, Kind: fault.Crash, Target: fault.Target{Role: fault.Follower}})
		}
		s.Faults = append(s.Faults,
			fault.Step{At: at, Kind: fault.Crash, Target: fault.Target{Role: fault.Leader}},
			fault.Step{At: at + 5*time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
		)
	}
	return s
}
