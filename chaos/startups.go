package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/world"
)

// Startups are runs that begin with a host more than they need and are cut down to healthy ones
// before their programs, while whoever has a part in that dies or is cut off (L1 to L10).
func Startups() []Scenario {
	var all []Scenario
	add := func(name string, faults ...fault.Step) *Scenario {
		s := padded("startups, " + name)
		s.Faults = faults
		all = append(all, s)
		return &all[len(all)-1]
	}
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	crashed, nobody := fault.Target{Role: fault.Crashed}, fault.Target{}
	mom := func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	for _, step := range []struct{ when, command string }{
		{"the pruning is asked for", "PruneJob"}, {"the pruning is done", world.PruneDone}, {"the program runs", world.PaddedStarted},
	} {
		for n, strike := range []fault.Step{
			at(1, fault.Ambush, nobody, step.command), at(1, fault.Waylay, mom(0), step.command), at(1, fault.Waylay, mom(1), step.command),
		} {
			who := []string{"the leader dies", "a mother superior is booted", "a sister is booted"}[n]
			s := add(who+" when "+step.when, strike, at(4, fault.Restart, crashed, ""))
			s.Checks = append(s.Checks, check.KilledAt(step.command))
		}
	}
	add("sisters are cut off from a mother superior", at(0.5, fault.Divide, mom(1), ""), at(5, fault.Heal, nobody, ""),
		at(6, fault.Divide, mom(2), ""), at(7, fault.Heal, nobody, ""), at(8, fault.Divide, mom(1), ""), at(13, fault.Heal, nobody, ""))
	add("sisters join late, after they were let go", at(0.5, fault.Freeze, mom(1), ""), at(6, fault.Thaw, mom(1), ""),
		at(7, fault.Freeze, mom(2), ""), at(14, fault.Thaw, mom(2), ""))
	return all
}

// padded is a scenario of four moms under jobs most of which are over two of them and begin with
// three.
func padded(name string) Scenario {
	s := usual(name)
	s.World.Moms, s.World.Prune = 4, true
	s.Load.Spread, s.Load.Wide, s.Load.Padded, s.Load.Longest, s.Load.Ops = true, true, true, 6*time.Second, 40
	s.Checks = append(s.Checks, check.Pruned, check.PaddedRecords)
	return s
}
