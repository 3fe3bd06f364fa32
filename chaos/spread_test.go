package chaos

import (
	"io"
	"testing"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/transport/build"
)

// spreads are jobs over hosts that lose hosts and each other. The first mom is the mother
// superior of most.
func spreads() []Scenario {
	var all []Scenario
	add := func(name string, faults ...fault.Step) {
		s := usual("over hosts, " + name)
		s.World.Moms, s.Load.Spread, s.Faults = 3, true, faults
		all = append(all, s)
	}
	at := func(seconds float64, k fault.Kind, n int) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: fault.Target{Role: fault.Mom, N: n}}
	}
	mend := func(seconds float64, k fault.Kind, who fault.Role) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: fault.Target{Role: who}}
	}
	add("a sister's host is booted", at(4, fault.Reboot, 1), mend(6, fault.Restart, fault.Crashed))
	add("the mother superior's host is booted", at(4, fault.Reboot, 0), mend(6, fault.Restart, fault.Crashed))
	add("moms die one after the other", at(3, fault.Crash, 0), mend(4, fault.Restart, fault.Crashed), at(5, fault.Crash, 1), mend(6, fault.Restart, fault.Crashed), at(7, fault.Crash, 2), mend(8, fault.Restart, fault.Crashed))
	add("a sister is cut off", at(4, fault.Exile, 1), mend(9, fault.Heal, fault.Nobody))
	add("the mother superior is cut off", at(4, fault.Exile, 0), mend(9, fault.Heal, fault.Nobody))
	return all
}

// L2 holds for every host of a run, whichever is lost; and the scenarios do have runs with
// programs at their sisters.
func TestSpread(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("the scenarios of TestScenarios lose hosts, too: make test plays these without the race detector")
	}
	parts := make(chan []check.Run, len(spreads()))
	t.Run("scenarios", func(t *testing.T) {
		for i, s := range spreads() {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				report := bubble(t, s, *firstSeed+uint64(i), false, io.Discard)
				if !report.Good() {
					t.Errorf("%s", report)
				}
				var own []check.Run
				for _, r := range report.Evidence.Runs {
					if r.Part {
						own = append(own, r)
					}
				}
				parts <- own
			})
		}
	})
	close(parts)
	n := 0
	for own := range parts {
		n += len(own)
	}
	if n == 0 {
		t.Error("no run has had a program at a sister")
	}
	t.Logf("%d programs at sisters", n)
}
