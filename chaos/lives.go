package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// A lifeStep is a step in the life of a run over several hosts at which somebody is lost.
type lifeStep struct {
	when, trap string
	mother     fault.Kind // what befalls the mother superior
	sister     fault.Kind // and a sister; 0: it has nothing to do with the step
	does       []string   // what moms call each other by (methods of the Sister service), and tell the servers, at it
}

// lifeSteps returns all steps at which a leader, a mother superior and a sister are lost.
func lifeSteps() []lifeStep {
	return []lifeStep{
		{"it is given to its hosts", world.LifeGiven, fault.Topple, fault.Exile, []string{"Join", "Prologue"}},
		{"its programs start", world.LifeStarted, fault.Exile, fault.Waylay, []string{"started", "Spawn"}},
		{"its usage is told", world.LifeTold, fault.Waylay, fault.Topple, []string{"Poll"}},
		{"a release is asked for", world.LifeReleaseAsked, fault.Topple, fault.Waylay, []string{"Update"}},
		{"a release is done", world.LifeReleased, fault.Waylay, 0, nil},
		{"a suspension is asked for", world.LifeSuspendAsked, fault.Exile, fault.Topple, []string{"Signal"}},
		{"it is suspended", world.LifeSuspended, fault.Topple, 0, nil},
		{"a resumption is asked for", world.LifeResumeAsked, fault.Topple, fault.Exile, nil},
		{"it is to run again", world.LifeRerunAsked, fault.Exile, fault.Topple, nil},
		{"its end is asked for", world.LifeEndAsked, fault.Waylay, fault.Exile, []string{"End"}},
		{"its obit is written", world.LifeEnded, fault.Topple, fault.Waylay, []string{"ended"}},
	}
}

// Lives returns the scenarios in which a run over several hosts loses a host, or the leader, at each step that the log knows of: the
// leader dies; a mother superior, or a sister, dies, is cut off, or its host is booted (L1 to L11).
func Lives() []Scenario {
	var all []Scenario
	at := func(seconds float64, k fault.Kind, who fault.Target, value string) fault.Step {
		return fault.Step{At: time.Duration(seconds * float64(time.Second)), Kind: k, Target: who, Value: value}
	}
	befalls := map[fault.Kind]string{fault.Topple: "'s mom dies", fault.Waylay: " is booted", fault.Exile: " is cut off"}
	nobody, host := fault.Target{}, func(n int) fault.Target { return fault.Target{Role: fault.Mom, N: n} }
	for _, step := range lifeSteps() {
		add := func(who string, strike fault.Step, law check.Law) {
			s := living("lives, "+who+" when "+step.when, step.trap)
			s.Faults = []fault.Step{strike, at(4.5, fault.Restart, fault.Target{Role: fault.Crashed}, ""), at(6, fault.Heal, nobody, "")}
			s.Checks = append(s.Checks, law)
			all = append(all, s)
		}
		add("the leader dies", at(1, fault.Ambush, nobody, step.trap), check.KilledAt(step.trap))
		add("a mother superior"+befalls[step.mother], at(1, step.mother, host(0), step.trap), check.LostAt(step.trap, false))
		if step.sister != 0 {
			add("a sister"+befalls[step.sister], at(1, step.sister, host(1), step.trap), check.LostAt(step.trap, true))
		}
	}
	return all
}

// living returns a scenario of three moms under jobs most of which are over two of them, and are asked for what
// brings about a step.
func living(name, step string) Scenario {
	s := usual(name)
	s.World.Moms, s.Load.Spread, s.Load.Wide, s.Load.Longest, s.Load.Ops = 3, true, true, 5*time.Second, 26
	often := map[string][]load.Share{
		world.LifeReleaseAsked: {{Kind: check.ReleaseNodes, Percent: 20}},
		world.LifeReleased:     {{Kind: check.ReleaseNodes, Percent: 20}},
		world.LifeRerunAsked:   {{Kind: check.Rerun, Percent: 20}},
	}
	if more := often[step]; more != nil {
		s.Load.Mix = append(more, s.Load.Mix...)
		s.Load.Ops = 40
		s.Load.Long = load.Tail{Percent: 60, From: 5 * time.Second, To: 12 * time.Second}
	}
	switch step {
	case world.LifeSuspendAsked, world.LifeSuspended, world.LifeResumeAsked, world.LifeEndAsked: // the world asks, while they run
		s.Load.Long = load.Tail{Percent: 60, From: 4 * time.Second, To: 8 * time.Second}
	case world.LifeTold:
		s.Load.Long = load.Tail{Percent: 60, From: 30 * time.Second, To: 70 * time.Second}
	}
	return s
}
