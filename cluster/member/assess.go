package member

import (
	"fmt"
	"time"

	"rampart/fsm/pbs"
)

// Health is how a replica does, in the eyes of the one that was asked.
type Health string

// The healths of a replica.
const (
	Healthy  Health = "ok"
	Joining  Health = "joining"     // it has no vote yet, and nothing is wrong
	Degraded Health = "degraded"    // something is to be done
	Silent   Health = "unreachable" // it does not answer
)

// A Condition is how the whole cluster does.
type Condition string

// The conditions.
const (
	AllWell  Condition = "healthy"
	Impaired Condition = "degraded"  // it serves
	NoQuorum Condition = "no quorum" // it changes nothing, and only stale reads are answered
)

const (
	// farBehind is more than what two replicas that are asked one after the other
	// differ by under load.
	farBehind = 1000
	// longSilent: a follower that has not heard of its leader for so long is cut off.
	longSilent = 3 * time.Second
)

// A Verdict is how one replica does, and what to do about it.
type Verdict struct {
	Health Health
	Lag    uint64 // committed entries that it has not applied
	Advice []string
}

// Assess says how the cluster and each of its replicas do. MayFail is how many more
// voters may fail before it stops.
func Assess(all []Status) (verdicts []Verdict, c Condition, mayFail int) {
	leader := leading(all)
	voters, answer := 0, 0
	c = AllWell
	for _, s := range all {
		v := assess(s, leader)
		verdicts = append(verdicts, v)
		if v.Health == Degraded || v.Health == Silent {
			c = Impaired
		}
		if s.Voter {
			voters++
			if s.Answers() {
				answer++
			}
		}
	}
	quorum := voters/2 + 1
	if leader == nil || answer < quorum {
		return verdicts, NoQuorum, 0
	}
	if len(Advise(all)) > 0 {
		c = Impaired
	}
	return verdicts, c, answer - quorum
}

// leading returns the leader of the highest term, nil if there is none: one that was
// cut off may believe for a moment that it still leads.
func leading(all []Status) *Status {
	var leader *Status
	for i, s := range all {
		if s.Role == Leader && (leader == nil || s.Term > leader.Term) {
			leader = &all[i]
		}
	}
	return leader
}

func assess(s Status, leader *Status) Verdict {
	v := Verdict{Health: Healthy}
	bad := func(advice string) { v.Health, v.Advice = Degraded, append(v.Advice, advice) }
	if s.Revoked {
		return Verdict{Health: Silent, Advice: []string{revokedAdvice(s.Self.Name)}}
	}
	if s.Role == Unreachable {
		if s.ReplacedBy != "" {
			return Verdict{Health: Silent, Advice: []string{fmt.Sprintf("wait: %s takes its place. If it comes back, it joins again by itself", s.ReplacedBy)}}
		}
		return Verdict{Health: Silent, Advice: []string{unreachableAdvice(s.Self.Name, string(s.Self.Host), leader != nil)}}
	}
	for _, a := range s.Alarms {
		bad(a.Advice)
	}
	if leader == nil {
		return v
	}
	v.Lag = max(leader.Commit, s.Applied) - s.Applied
	switch {
	case s.Term == 0: // its Raft has not started; an alarm says why
	case s.Stalled(): // an alarm says so
	case s.Voter && v.Lag > farBehind:
		bad("wait: it catches up. If it does not, look at its disk and CPU")
	case s.Voter && s.LastContact > longSilent*time.Duration(s.Class.Factor()):
		bad(fmt.Sprintf("look at the network between it and %s: it does not hear the leader", leader.Self.Name))
	case s.Wants != "":
		bad(fmt.Sprintf("restart it: it runs with the times of class %s, and the cluster is of class %s", s.Class.OrLan(), s.Wants))
	case !s.Voter && v.Health == Healthy && s.Takes != "":
		v.Health, v.Advice = Joining, []string{fmt.Sprintf("wait: it takes the place of %s, which is silent", s.Takes)}
	case !s.Voter && v.Health == Healthy:
		v.Health, v.Advice = Joining, []string{"wait: it gets a vote when it has caught up; while another is silent, when that is back or has been silent for 30 s"}
	}
	return v
}

func revokedAdvice(name pbs.ReplicaName) string {
	return fmt.Sprintf("its certificate was revoked, and it counts as a member that is down: rampart cluster remove %s", name)
}

// unreachableAdvice speaks of a newcomer only while somebody leads who could let it in.
func unreachableAdvice(name pbs.ReplicaName, host string, led bool) string {
	if host == "" {
		host = string(name)
	}
	advice := fmt.Sprintf("look at host %s: is it up, does `rampart server` run there, and can it be reached?", host)
	if led {
		advice += " If it will not come back, let another replica join: it takes its place"
	}
	return advice
}
