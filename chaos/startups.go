package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/world"
)

// Startups returns the scenarios in which runs begin with one host more than they need and are reduced to healthy ones
// before their programs start, while a daemon with a part in that dies or is cut off (L1 to L10).
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
			s := add(loss.who+" when "+step.when, loss.strike, at(4.5, fault.Restart, crashed, ""))
			s.Checks = append(s.Checks, loss.check)
			if step.command == world.PaddedGiven && loss.strike.Target.N == 1 {
				s.Checks = append(s.Checks, check.MissedAt(step.command))
			}
		}
	}
	given := world.PaddedGiven
	cut := func(name string, laws []check.Law, faults ...fault.Step) {
		s := add(name, faults...)
		s.Checks = append(s.Checks, laws...)
	}
	cut("sisters are cut off from a mother superior", []check.Law{check.LostAt(given, true), check.MissedAt(given), check.HitsAt(given, 3)},
		at(0.5, fault.Divide, mom(1), given), at(5, fault.Heal, nobody, ""), at(6, fault.Divide, mom(2), given), at(7, fault.Heal, nobody, ""),
		at(8, fault.Divide, mom(1), given), at(13, fault.Heal, nobody, ""))
	for _, from := range []struct {
		who  string
		kind fault.Kind
	}{{"the leader", fault.Estrange}, {"everybody", fault.Exile}} {
		cut("mothers superior are cut off from "+from.who,
			[]check.Law{check.LostAt(given, false), check.LostAt("PruneJob", false), check.LostAt(world.PruneDone, false)},
			at(0.5, from.kind, mom(0), given), at(3, fault.Heal, nobody, ""), at(4, from.kind, mom(0), "PruneJob"), at(9, fault.Heal, nobody, ""),
			at(10, from.kind, mom(0), world.PruneDone), at(12, fault.Heal, nobody, ""))
	}
	cut("sisters join late, after they were let go", []check.Law{check.LostAt(given, true), check.JoinedLate(given)},
		at(0.5, fault.Lag, mom(1), given), at(5, fault.Heal, nobody, ""), at(5.5, fault.Lag, mom(2), given), at(10, fault.Heal, nobody, ""))
	cut("sisters are frozen until they were let go", []check.Law{check.LostAt(given, true), check.MissedAt(given)},
		at(0.5, fault.Freeze, mom(1), given), at(6, fault.Thaw, nobody, ""), at(7, fault.Freeze, mom(2), given), at(14, fault.Thaw, nobody, ""))
	cut("hosts flap", []check.Law{check.LostAt(given, true), check.HitsAt(given, 5)},
		at(0.5, fault.Topple, mom(1), given), at(0.9, fault.Restart, crashed, ""), at(1, fault.Topple, mom(1), given), at(1.5, fault.Restart, crashed, ""),
		at(1.6, fault.Waylay, mom(2), given), at(1.9, fault.Restart, crashed, ""), at(2, fault.Waylay, mom(1), given), at(2.7, fault.Restart, crashed, ""),
		at(3, fault.Exile, mom(1), given), at(3.5, fault.Heal, nobody, ""))
	return all
}

// padded returns a scenario of four moms under jobs most of which are over two of them and begin with
// three.
func padded(name string) Scenario {
	s := usual(name)
	s.World.Moms, s.World.Prune = 4, true
	s.Load.Spread, s.Load.Wide, s.Load.Padded, s.Load.Longest, s.Load.Ops = true, true, true, 6*time.Second, 40
	s.Checks = append(s.Checks, check.Pruned, check.PaddedRecords)
	return s
}
