package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Scenarios returns the experiments that have names.
func Scenarios() []Scenario {
	at := func(s float64, k fault.Kind, t fault.Target) fault.Step {
		return fault.Step{At: time.Duration(s * float64(time.Second)), Kind: k, Target: t}
	}
	leader, crashed, network := fault.Target{Role: fault.Leader}, fault.Target{Role: fault.Crashed}, fault.Target{}
	all := []Scenario{
		{Name: "the leader dies while jobs are submitted", Faults: []fault.Step{
			at(3, fault.Crash, leader), at(8, fault.Restart, crashed),
		}},
		{Name: "every leader dies, one after the other", Faults: []fault.Step{
			at(2, fault.Crash, leader), at(4, fault.Restart, crashed), at(5, fault.Tear, leader),
			at(7, fault.Restart, crashed), at(8, fault.Crash, leader), at(10, fault.Restart, crashed),
		}},
		{Name: "all replicas die at once", Faults: []fault.Step{
			at(4, fault.Crash, leader), at(4, fault.Tear, fault.Target{Role: fault.Follower}),
			at(4, fault.Crash, fault.Target{Role: fault.Follower}), at(6, fault.Restart, crashed),
		}},
		{Name: "the leader is cut off with its clients", Faults: []fault.Step{
			at(2, fault.Isolate, leader), at(7, fault.Heal, network), at(9, fault.Mute, leader), at(12, fault.Heal, network),
		}},
		{Name: "a follower is away until only a snapshot brings it back", Faults: []fault.Step{
			at(1, fault.Exile, fault.Target{Role: fault.Follower}), at(14, fault.Heal, network),
		}},
		{Name: "answers are lost and requests repeated", Faults: []fault.Step{
			at(1, fault.LoseReplies, leader), at(2, fault.Sever, network), at(3, fault.Heal, network),
			at(4, fault.LoseReplies, leader), at(5, fault.Sever, network), at(6, fault.Heal, network),
			at(7, fault.LoseReplies, leader), at(8, fault.Sever, network), at(8.5, fault.Crash, leader), at(9, fault.Heal, network),
			at(10, fault.Restart, crashed),
		}},
		{Name: "moms die and their hosts are booted under running jobs", Faults: []fault.Step{
			at(2, fault.Crash, fault.Target{Role: fault.Mom}), at(4, fault.Restart, crashed),
			at(6, fault.Reboot, fault.Target{Role: fault.Mom, N: 1}), at(8, fault.Restart, crashed), at(9, fault.Crash, leader),
			at(10, fault.Reboot, fault.Target{Role: fault.Mom}), at(12, fault.Restart, crashed),
		}},
	}
	for i, s := range all {
		all[i] = usual(s.Name)
		all[i].Faults = s.Faults
	}
	all = append(all, Crowds()...)
	all = append(all, Disasters()...)
	all = append(all, Sieges()...)
	all = append(all, Lies()...)
	all = append(all, Upgrades()...)
	all = append(all, Releases()...)
	all = append(all, Suspensions()...)
	all = append(all, Rivalries()...)
	all = append(all, Keepers()...)
	all = append(all, Plans()...)
	all = append(all, Burdens()...)
	all = append(all, Reservations()...)
	all = append(all, Sicknesses()...)
	all = append(all, Elsewheres()...)
	all = append(all, Startups()...)
	all = append(all, Lives()...)
	all = append(all, ReservedLives()...)
	all = append(all, LargeScripts()...)
	all = append(all, Stalls()...)
	return append(all, Ambushes()...)
}

// usual returns a scenario without faults.
func usual(name string) Scenario {
	return Scenario{
		Name:  name,
		World: world.Size{Servers: 3, Moms: 2, Clients: 3},
		Load: load.Plan{
			Clients: 3, Ops: 26, Pause: 800 * time.Millisecond, Longest: 4 * time.Second, Queue: world.SecondQueue,
			Mix: []load.Share{
				{Kind: check.List, Percent: 20},
				{Kind: check.Look, Percent: 8},
				{Kind: check.Delete, Percent: 8},
				{Kind: check.Hold, Percent: 7},
				{Kind: check.Release, Percent: 7},
				{Kind: check.Alter, Percent: 6},
				{Kind: check.Rerun, Percent: 4},
				{Kind: check.SetQueue, Percent: 4},
				{Kind: check.LookQueues, Percent: 3},
			},
		},
		For:    15 * time.Second,
		Rest:   3 * time.Minute,
		Checks: check.All(),
	}
}
