package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// siegeFence is the shortest fence that there is.
const siegeFence = 30 * time.Second

// besieged returns a scenario for fences: many jobs run for longer than one, some must not run
// again, and clients go on asking while a mom is away.
func besieged(name string) Scenario {
	s := usual(name)
	s.World.Fence = siegeFence
	s.Load.Ops, s.Load.Pause, s.Load.Once = 60, time.Second, 25
	s.Load.Long = load.Tail{Percent: 40, From: 20 * time.Second, To: 65 * time.Second}
	s.Rest = 10 * time.Minute
	return s
}

// siege draws the scenario of a seed that tries the fence.
func siege(seed uint64) Scenario {
	s := besieged(fmt.Sprintf("siege %d", seed))
	steps, falls := fault.Siege{
		Fence: siegeFence, From: 5 * time.Second, Span: 9 * time.Second, Moms: s.World.Moms,
	}.Draw(choices(seed, "siege"))
	s.Faults = steps
	s.For = steps[len(steps)-1].At + 2*time.Second
	if falls {
		s.Checks = append(s.Checks, check.FenceFell)
	}
	return s
}

// Sieges returns the scenarios with names in which fences fall, or must not (L2).
func Sieges() []Scenario {
	mom, other := fault.Target{Role: fault.Mom}, fault.Target{Role: fault.Mom, N: 1}
	leader, replicas, crashed := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Replicas}, fault.Target{Role: fault.Crashed}
	follower, anybody := fault.Target{Role: fault.Follower}, fault.Target{}
	fell, passed, nothing := check.FenceFell, check.DeadlinePassed, check.NothingRequeued
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	set := func(s float64, seconds string) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: fault.SetFence, Value: seconds}
	}
	var all []Scenario
	add := func(name string, fence time.Duration, steps []fault.Step, laws ...check.Law) {
		s := besieged("fence: " + name)
		s.World.Fence, s.Faults = fence, steps
		s.For = steps[len(steps)-1].At + 2*time.Second
		s.Checks = append(s.Checks, laws...)
		all = append(all, s)
	}
	add("a mom is cut off from everybody", siegeFence, []fault.Step{at(8, fault.Exile, mom), at(75, fault.Heal, mom)}, fell, passed)
	add("a mom is cut off from everybody, and the leader dies", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), at(30, fault.Crash, leader), at(35, fault.Restart, replicas), at(100, fault.Heal, mom),
	}, fell, passed)
	add("a mom is cut off from everybody, and the leader dies at once", 60*time.Second, []fault.Step{
		at(8, fault.Exile, mom), at(9, fault.Crash, leader), at(12, fault.Restart, replicas), at(120, fault.Heal, mom),
	}, fell)
	all[len(all)-1].Load.Ops = 24 // there is room elsewhere for what would be given up too early
	add("a mom is cut off from the leader and not from the followers", siegeFence, []fault.Step{
		at(8, fault.Estrange, mom), at(80, fault.Heal, mom),
	}, nothing)
	add("a mom is cut off from the leader, who dies", siegeFence, []fault.Step{
		at(8, fault.Estrange, mom), at(60, fault.Crash, leader), at(66, fault.Restart, replicas), at(100, fault.Heal, mom),
	}, nothing)
	add("a mom dies and its jobs do not", siegeFence, []fault.Step{at(8, fault.Crash, mom), at(75, fault.Restart, mom)}, fell, passed)
	add("a mom dies and is there again before its fence falls", siegeFence, []fault.Step{
		at(8, fault.Crash, mom), at(28, fault.Restart, mom), at(50, fault.Crash, other), at(70, fault.Restart, other),
	}, nothing)
	add("a mom is frozen and woken after its fence", siegeFence, []fault.Step{at(8, fault.Freeze, mom), at(80, fault.Thaw, mom)}, fell, passed)
	add("a mom is frozen, and the leader dies", siegeFence, []fault.Step{
		at(8, fault.Freeze, mom), at(20, fault.Crash, leader), at(24, fault.Restart, replicas), at(100, fault.Thaw, mom),
	}, fell, passed)
	add("a host is booted and its mom stays away", siegeFence, []fault.Step{at(8, fault.Reboot, mom), at(75, fault.Restart, mom)}, fell)
	add("a host is booted while the other one is away", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), at(20, fault.Reboot, other), at(25, fault.Restart, other), at(80, fault.Heal, mom),
	}, fell, passed)
	add("all replicas are down for longer than it", siegeFence, []fault.Step{
		at(8, fault.Crash, leader), at(8, fault.Crash, follower), at(8, fault.Crash, follower), at(60, fault.Restart, crashed),
	}, passed)
	add("all replicas are down for longer than it, and a mom stays away", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), at(9, fault.Crash, leader), at(9, fault.Crash, follower), at(9, fault.Crash, follower),
		at(60, fault.Restart, replicas), at(125, fault.Heal, mom),
	}, fell, passed)
	add("it becomes shorter while a mom is cut off", 90*time.Second, []fault.Step{
		at(8, fault.Exile, mom), set(12, "30"), at(135, fault.Heal, mom),
	}, fell)
	add("it becomes longer while a mom is cut off", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), set(12, "90"), at(140, fault.Heal, mom),
	}, fell, passed)
	add("it becomes endless while a mom is cut off", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), set(12, "0"), at(100, fault.Heal, mom),
	}, passed)
	add("it is unset while a mom is cut off", siegeFence, []fault.Step{
		at(8, fault.Exile, mom), set(12, ""), at(100, fault.Heal, mom),
	}, passed)
	add("an endless one becomes short while a mom is cut off", siegeFence, []fault.Step{
		set(2, "0"), at(10, fault.Exile, mom), set(14, "30"), at(100, fault.Heal, anybody),
	}, nothing)
	return all
}

// Lies returns the scenarios in which gossip tells lies about moms (L13).
func Lies() []Scenario {
	mom, other := fault.Target{Role: fault.Mom}, fault.Target{Role: fault.Mom, N: 1}
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	leader, replicas := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Replicas}
	var all []Scenario
	add := func(name string, laws []check.Law, steps ...fault.Step) {
		s := besieged("gossip: " + name)
		s.Faults = steps
		s.For = steps[len(steps)-1].At + 2*time.Second
		s.Checks = append(s.Checks, check.GossipLied)
		s.Checks = append(s.Checks, laws...)
		all = append(all, s)
	}
	nothing, alive := []check.Law{check.NothingRequeued}, []check.Law{check.NothingRequeued, check.LiveMomsAreUp}
	add("a live mom is said to be dead", alive, at(6, fault.Slander, mom), at(66, fault.Heal, fault.Target{}))
	add("a live mom is said to be dead, and the leader dies", alive,
		at(6, fault.Slander, mom), at(12, fault.Crash, leader), at(15, fault.Restart, replicas), at(66, fault.Heal, fault.Target{}))
	add("live moms are said to be dead, one after the other", alive,
		at(6, fault.Slander, mom), at(20, fault.Slander, other), at(40, fault.Slander, mom), at(60, fault.Heal, fault.Target{}))
	add("a dead mom is said to live, and is there again in time", nothing,
		at(8, fault.Crash, mom), at(8.2, fault.Vouch, mom), at(28, fault.Restart, mom), at(40, fault.Heal, fault.Target{}))
	add("a dead mom is said to live until its fence has fallen", []check.Law{check.FenceFell},
		at(8, fault.Crash, mom), at(8.2, fault.Vouch, mom), at(80, fault.Restart, mom), at(84, fault.Heal, fault.Target{}))
	return all
}
