package chaos

import (
	"fmt"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
)

// Early returns the kinds of commands that come while a cluster starts: the leader dies at
// one and is started again, before anybody submits.
func Early() []string { return []string{"InitCluster", "PutReplica", "RaiseLevel"} }

// Later returns the kinds that come under load, by themselves or because the world provokes
// them.
func Later() []string {
	return []string{
		"TermStarted", "TimeTick", "ManageServer", "ManageQueue", "ManageVnode", "ManageResource",
		"SubmitJob", "AlterJob", "HoldJob", "ReleaseJob", "SignalJob", "DeleteJob", "RerunJob",
		"StartJob", "JobStarted", "JobEnded", "HostUp", "HostDown", "OrderConfirmed", "CreateToken", "Enrol",
		"UsageSample", "SetWaits", "HostFenced", "ForgetHost", "ShortenFence", "HostTrouble", "CompareDigests",
		"RevokeToken", "RenewIdentity", "RevokeIdentity", "TurnGossipKeys", "TurnRoots",
		"ManageSched", "MessageJob", "MoveJob", "SwapJobs", "SetRTTClass",
		"ManageHook", "ImportHook", "HooksTold",
		"Reserve", "DecideReservation", "AlterReservation", "DeleteReservation",
	}
}

// Ambushes returns the scenarios in which a leader is killed when it has applied a command of
// a kind and nobody else knows that it is committed: one for each kind (L1, L6, L8, L9).
func Ambushes() []Scenario {
	var all []Scenario
	crash := []fault.Step{
		{At: 3 * time.Second, Kind: fault.Crash, Target: fault.Target{Role: fault.Leader}},
		{At: 5 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
	}
	for _, kind := range Early() {
		s := usual("the leader dies at " + kind)
		s.Early, s.Faults = kind, crash
		s.Checks = append(s.Checks, check.KilledAt(kind))
		all = append(all, s)
	}
	for _, kind := range Later() {
		s := usual("the leader dies at " + kind)
		s.Faults = []fault.Step{
			{At: 3 * time.Second, Kind: fault.Ambush, Value: kind},
			{At: 6 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
		}
		if often, ok := asked[kind]; ok {
			s.Load.Mix, s.Load.Ops = mixFor(s.Load.Mix, often), 50
		}
		s.Checks = append(s.Checks, check.KilledAt(kind))
		switch kind {
		case "Reserve", "DecideReservation", "AlterReservation", "DeleteReservation":
			s.Checks = append(s.Checks, check.Reservations()...)
		case "HostFenced":
			s.World.Fence = siegeFence
			s.Load.Long = load.Tail{Percent: 50, From: 20 * time.Second, To: 60 * time.Second}
		case "AlterJob", "SetWaits", "MoveJob", "SwapJobs": // of those that wait
			s.Load.Ops, s.Load.Long = 50, load.Tail{Percent: 90, From: 10 * time.Second, To: 20 * time.Second}
		case "UsageSample":
			s.Load.Long = load.Tail{Percent: 60, From: 30 * time.Second, To: 70 * time.Second}
		case "SignalJob", "MessageJob":
			s.Load.Longest = 12 * time.Second
		case "RenewIdentity": // replicas put themselves on record soon after their start
			s.Faults[0].At = 0
		}
		all = append(all, s)
	}
	return all
}

// frequent are the kinds that a few seconds of load bring for sure.
var frequent = []string{
	"SubmitJob", "SubmitJob", "StartJob", "StartJob", "JobStarted", "JobEnded", "JobEnded", "TermStarted", "HostUp", "TimeTick",
}

// waylay draws the scenario of a seed in which three leaders die, each at a command.
func waylay(seed uint64) Scenario {
	s, r := usual(fmt.Sprintf("ambushes %d", seed)), choices(seed, "ambushes")
	for at := time.Second; at < 10*time.Second; at += 3 * time.Second {
		back := at + 300*time.Millisecond + time.Duration(r.Int64N(int64(2500*time.Millisecond))).Round(time.Millisecond)
		s.Faults = append(s.Faults,
			fault.Step{At: at, Kind: fault.Ambush, Value: frequent[r.IntN(len(frequent))]},
			fault.Step{At: back, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}},
		)
	}
	return s
}

// asked are the kinds of commands that clients give rise to now and then.
var asked = map[string]check.Kind{
	"AlterJob": check.Alter, "HoldJob": check.Hold, "ReleaseJob": check.Release, "DeleteJob": check.Delete,
	"RerunJob": check.Rerun, "OrderConfirmed": check.Delete,
}

// mixFor asks oftener for one kind, so that it comes in time.
func mixFor(mix []load.Share, often check.Kind) []load.Share {
	var all []load.Share
	for _, share := range mix {
		if share.Kind == often {
			share.Percent += 12
		}
		all = append(all, share)
	}
	return all
}
