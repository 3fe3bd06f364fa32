package real

import (
	"fmt"
	"time"

	"rampart/chaos"
	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Laws returns the laws of the bubble. Three see less here than there: that a vnode is never
// promised more than it has (L3) and the moves of jobs (L5) are judged of the states that
// were looked at on the way and of the ledgers, not after every entry; and equal states at
// equal index (L4) of what the replicas say of themselves, and of the end.
func Laws() []check.Law { return check.All() }

// on names who is hit; the network, and all of it, by Nobody.
func on(r fault.Role) fault.Target { return fault.Target{Role: r} }

// usual returns a scenario without faults, whose clients ask until it ends.
func usual(name string) chaos.Scenario {
	return chaos.Scenario{
		Name:  name,
		World: world.Size{Servers: 3, Moms: 2, Clients: 8},
		Load: load.Plan{
			Clients: 8, Ops: 10000, Pause: 500 * time.Millisecond, Longest: 3 * time.Second, Queue: world.SecondQueue,
			Mix: []load.Share{
				{Kind: check.List, Percent: 4},
				{Kind: check.Look, Percent: 10},
				{Kind: check.Delete, Percent: 5},
				{Kind: check.Hold, Percent: 5},
				{Kind: check.Release, Percent: 5},
				{Kind: check.Alter, Percent: 5},
				{Kind: check.Rerun, Percent: 3},
				{Kind: check.SetQueue, Percent: 2},
				{Kind: check.LookQueues, Percent: 2},
			},
		},
		Cut:    true,
		Rest:   3 * time.Minute,
		Checks: Laws(),
	}
}

// LeaderKills kills the leader n times under load, each time when all replicas are level,
// and starts it again when the others have gone on without it.
func LeaderKills(n int) chaos.Scenario {
	s := usual("every leader dies")
	const every, away = 2500 * time.Millisecond, 1500 * time.Millisecond
	for i := range n {
		at := 2*time.Second + time.Duration(i)*every
		s.Faults = append(s.Faults,
			fault.Step{At: at, Kind: fault.Crash, Target: on(fault.Leader)},
			fault.Step{At: at + away, Kind: fault.Restart, Target: on(fault.Crashed)},
		)
	}
	s.For = time.Duration(n)*every + 3*time.Second
	return s
}

// Everything kills and freezes one process after the other.
func Everything() chaos.Scenario {
	s := usual("processes die and freeze, one after the other")
	at := func(t float64, k fault.Kind, target fault.Target) {
		s.Faults = append(s.Faults, fault.Step{At: time.Duration(t * float64(time.Second)), Kind: k, Target: target})
	}
	at(1.5, fault.Crash, on(fault.Leader))
	at(3, fault.Restart, on(fault.Crashed))
	at(4, fault.Freeze, on(fault.Leader))
	at(5, fault.Crash, on(fault.Mom))
	at(6.5, fault.Thaw, on(fault.Nobody))
	at(7, fault.Restart, on(fault.Crashed))
	at(8, fault.Crash, on(fault.Follower))
	at(9, fault.Freeze, fault.Target{Role: fault.Mom, N: 1})
	at(10, fault.Restart, on(fault.Crashed))
	at(11, fault.Freeze, on(fault.Follower))
	at(12, fault.Thaw, on(fault.Nobody))
	at(12.5, fault.Crash, on(fault.Leader))
	at(14, fault.Restart, on(fault.Crashed))
	s.For = 15 * time.Second
	return s
}

// fence is the shortest that there is.
const fence = 30 * time.Second

// MomSilentBeyondItsFence kills or freezes a mom, and lets it come back when its fence has
// fallen: its shims have ended its jobs by then, the leader has started them on the other
// host, and what the mom then does changes nothing.
func MomSilentBeyondItsFence(k fault.Kind) chaos.Scenario {
	s := usual("a mom is silent for longer than its fence")
	s.Load.Clients, s.World.Clients = 3, 3 // the other host has room for all jobs of both
	s.Load.Pause, s.Load.Longest = 1200*time.Millisecond, 3*fence/2
	back := fault.Step{At: 3*time.Second + fence, Kind: fault.Thaw}
	if k == fault.Crash {
		back.Kind, back.Target = fault.Restart, on(fault.Crashed)
	}
	s.Faults = []fault.Step{{At: 3 * time.Second, Kind: k, Target: on(fault.Mom)}, back}
	s.For = fence + 5*time.Second
	return s
}

// Releases has jobs over three of four hosts give vnodes back, in every way in which these may be named,
// while mothers superior and sisters are stopped and die, and leaders die meanwhile: each mom is the one
// for some jobs and the other for others. A leader dies while what a stopped mother superior was asked
// is open.
func Releases(rounds int) chaos.Scenario {
	s := usual("releases, processes die and freeze")
	s.World = world.Size{Servers: 3, Moms: 4, Clients: 8}
	s.Load.Pause = 500 * time.Millisecond
	s.Load.Spread, s.Load.Wide, s.Load.Parts = true, true, true
	for n := range s.World.Moms {
		s.Load.Selects = append(s.Load.Selects, fmt.Sprintf("1:ncpus=2:host=%s+2:ncpus=2", hostName(n)))
	}
	s.Load.Long = load.Tail{Percent: 75, From: 3 * time.Second, To: 9 * time.Second}
	s.Load.Mix = []load.Share{
		{Kind: check.ReleaseNodes, Percent: 45},
		{Kind: check.List, Percent: 4},
		{Kind: check.Look, Percent: 6},
		{Kind: check.Delete, Percent: 4},
		{Kind: check.Hold, Percent: 2},
		{Kind: check.Release, Percent: 3},
		{Kind: check.Alter, Percent: 4},
		{Kind: check.Rerun, Percent: 4},
	}
	const round = 12 * time.Second
	for n := range rounds {
		at := func(t float64, k fault.Kind, target fault.Target) {
			s.Faults = append(s.Faults, fault.Step{At: 2*time.Second + time.Duration(n)*round + time.Duration(t*float64(time.Second)), Kind: k, Target: target})
		}
		at(0, fault.Freeze, on(fault.Mother))
		at(1.5, fault.Crash, on(fault.Leader))
		at(3, fault.Thaw, on(fault.Nobody))
		at(3.5, fault.Restart, on(fault.Crashed))
		at(4.5, fault.Crash, on(fault.Mother))
		at(6, fault.Restart, on(fault.Crashed))
		at(7, fault.Crash, on(fault.Sister))
		at(7, fault.Crash, on(fault.Leader))
		at(8.5, fault.Restart, on(fault.Crashed))
		at(9.5, fault.Freeze, on(fault.Sister))
		at(10.5, fault.Thaw, on(fault.Nobody))
		at(11, fault.Crash, fault.Target{Role: fault.Mom, N: n})
		at(11.5, fault.Restart, on(fault.Crashed))
	}
	s.For = time.Duration(rounds)*round + 3*time.Second
	s.Checks = append(s.Checks, check.Released, check.ReleasesStruck)
	return s
}
