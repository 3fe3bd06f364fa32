// Package chaos breaks the system and judges what it did: a Scenario names a world,
// a load, faults and the laws to be checked; Run plays it in a synctest bubble and
// returns a Report. See DESIGN.md beside this file.
//
// Run blocks until everything it started has ended. All choices come from the seed,
// which is the first line of the report; the order of goroutines does not.
package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// A Scenario is one experiment, as data.
type Scenario struct {
	Name   string
	World  world.Size
	Load   load.Plan
	Cut    bool   // the load ends with the faults, however much of it is left
	Early  string // the kind of command at which a leader dies while the world starts; empty: none does
	Faults []fault.Step
	For    time.Duration // at least so long after the start of the load
	Rest   time.Duration // in which everything must come to its end
	Checks []check.Law
}

// String returns the scenario as text.
func (s Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d replicas, %d moms, %d clients of %d requests, %s", s.Name,
		s.World.Servers, s.World.Moms, s.Load.Clients, s.Load.Ops, s.For)
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "\n\t%s", f)
	}
	return b.String()
}

// drawnEvery is the number of seeds of which one tries the fence, one kills leaders at a command, one has jobs preempt each other, one has jobs
// keep what is free, wait with plans, or run on hosts with load, one has reservations, and one has sick hosts.
const drawnEvery = 8

// Schedule draws the scenario of a seed: crashes, partitions and their ends under
// submissions, deletions and lists. Some seeds have a subject of their own besides (drawnEvery).
func Schedule(seed uint64) Scenario {
	switch seed % drawnEvery {
	case 5:
		return siege(seed)
	case 1:
		return waylay(seed)
	case 3:
		return rivals(seed)
	case 6:
		return booked(seed)
	case 2:
		switch choices(seed, "kind").IntN(6) {
		case 0, 2:
			return burdens(seed)
		case 1:
			return planned(seed)
		}
		return kept(seed)
	case 7:
		return sick(seed)
	}
	s := usual(fmt.Sprintf("schedule %d", seed))
	s.World.Servers, s.Load.Spread = replicas(seed), true
	s.Load.Mix = append(s.Load.Mix, load.Share{Kind: check.ReleaseNodes, Percent: 6})
	p := fault.Profile{
		Span: 9 * time.Second, Least: 1, Most: 4, Moms: s.World.Moms, Longest: 5 * time.Second, Followers: s.World.Servers - 1,
	}
	s.Faults = p.Draw(choices(seed, "faults"))
	if stalls := choices(seed, "stalls"); stalls.IntN(3) == 0 {
		s.Faults = p.Stalled(stalls, s.Faults, writes...)
	}
	return s
}

// replicas draws how many there are: three as a rule, for a world of five or seven costs about
// twice as much, and few bugs need it.
func replicas(seed uint64) int {
	switch n := choices(seed, "replicas").IntN(30); {
	case n == 0:
		return 7
	case n <= 2:
		return 5
	}
	return 3
}

// choices returns the source of one kind of choices, so that a change of the load
// leaves the faults of a seed as they were.
func choices(seed uint64, what string) *rand.Rand {
	var salt uint64
	for _, c := range []byte(what) {
		salt = salt*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, salt))
}
