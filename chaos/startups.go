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
		{"the run is given to its hosts", world.PaddedGiven},
		{"the pruning is asked for", "PruneJob"},
		{"the pruning is done", world.PruneDone},
		{"the program runs", world.PaddedStarted},
	} {
		for _, loss := range []struct {
			who    string
			strike fault.Step
			check  check.Law
		}{
			{"the leader dies", at(1, fault.Ambush, nobody, step.command), check.KilledAt(step.command)},
			{"a mother superior is booted", at(1, fault.Waylay, mom(0), step.command), check.LostAt(step.command, false)},
			{"a mother superior's mom dies", at(1, fault.Topple, mom(0), step.command), check.LostAt(step.command, false)},
			{"a sister is booted", at(1, fault.Waylay, mom(1), step.command), check.LostAt(step.command, true)},
			{"a sister's mom dies", at(1, fault.Topple, mom(1), step.command), check.LostAt(step.command, true)},
		} {
			s := add(loss.who+" when "+step.when, loss.strike, at(4, fault.Restart, crashed, ""))
			s.Checks = append(s.Checks, loss.check)
		}
	}
	add("sisters are cut off from a mother superior", at(0.5, fault.Divide, mom(1), ""), at(5, fault.Heal, nobody, ""),
		at(6, fault.Divide, mom(2), ""), at(7, fault.Heal, nobody, ""), at(8, fault.Divide, mom(1), ""), at(13, fault.Heal, nobody, ""))
	add("mothers superior are cut off from the leader", at(0.5, fault.Estrange, mom(0), ""), at(3, fault.Heal, nobody, ""),
		at(4, fault.Estrange, mom(1), ""), at(9, fault.Heal, nobody, ""), at(10, fault.Estrange, mom(0), ""), at(12, fault.Heal, nobody, ""))
	add("mothers superior are cut off from everybody", at(0.5, fault.Exile, mom(0), ""), at(5, fault.Heal, nobody, ""),
		at(6, fault.Exile, mom(1), ""), at(8, fault.Heal, nobody, ""))
	add("sisters join late, after they were let go", at(0.5, fault.Freeze, mom(1), ""), at(6, fault.Thaw, mom(1), ""),
		at(7, fault.Freeze, mom(2), ""), at(14, fault.Thaw, mom(2), ""))
	add("hosts flap", at(0.5, fault.Crash, mom(1), ""), at(0.9, fault.Restart, crashed, ""), at(1.3, fault.Crash, mom(1), ""),
		at(1.8, fault.Restart, crashed, ""), at(2.1, fault.Crash, mom(1), ""), at(3, fault.Restart, crashed, ""),
		at(4, fault.Reboot, mom(2), ""), at(4.3, fault.Restart, crashed, ""), at(4.8, fault.Reboot, mom(2), ""), at(5.5, fault.Restart, crashed, ""),
		at(6, fault.Exile, mom(3), ""), at(6.5, fault.Heal, nobody, ""), at(7, fault.Exile, mom(3), ""), at(7.8, fault.Heal, nobody, ""))
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
