package recovery

import (
	"cmp"
	"slices"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
)

// A Disaster is somebody's word that replicas are lost for good, and with them the quorum.
type Disaster struct {
	Lost []pbs.ReplicaName // all members that do not answer; when looking, nobody stands for that
	By   pbs.User          // whose word it is
	Look bool              // tell what would be done, and do nothing
	// Relayed is set when another survivor has found the one that is asked to be the
	// furthest.
	Relayed bool
}

// A Rescue is a plan against a disaster, carried out or not.
type Rescue struct {
	Survivors []LogEnd // the furthest first: it goes on, the others begin anew
	Lost      []string // server ids
	Epoch     uint64   // that begins; 0: nothing was done
	Committed uint64   // index up to which the furthest knows that its log was committed
	Time      pbs.Time // of the last entry that it has applied; 0: none, its Raft does not run
}

// Chosen returns the survivor that goes on.
func (r *Rescue) Chosen() LogEnd { return r.Survivors[0] }

// Anew returns the ids of the survivors that begin with empty stores.
func (r *Rescue) Anew() []string {
	var ids []string
	for _, s := range r.Survivors[1:] {
		ids = append(ids, s.ServerID)
	}
	return ids
}

// A LogEnd is how far a replica's log reaches.
type LogEnd struct {
	ServerID    string
	Address     string
	Voter       bool // as the one that asks has it
	Index, Term uint64
	Leader      string // address of the leader that it hears, or is; empty: none
}

// Name returns the name of the replica.
func (e LogEnd) Name() pbs.ReplicaName { return member.NameOf(raft.ServerID(e.ServerID)) }

// order puts the furthest log first (that of Raft: the last term, then the index), and of
// equal ones a voter's.
func (e LogEnd) order(o LogEnd) int {
	vote := func(e LogEnd) int { return map[bool]int{true: 1}[e.Voter] }
	return cmp.Or(
		cmp.Compare(o.Term, e.Term), cmp.Compare(o.Index, e.Index), cmp.Compare(vote(o), vote(e)),
		cmp.Compare(e.ServerID, o.ServerID),
	)
}

// Named refuses a disaster that names nobody, or somebody who is no member.
func Named(members []raft.Server, d Disaster) error {
	if len(d.Lost) == 0 && !d.Look {
		return pbs.Errorf(pbs.InvalidRequest, "name the replicas that are lost for good")
	}
	for _, name := range d.Lost {
		if !slices.ContainsFunc(members, func(s raft.Server) bool { return member.NameOf(s.ID) == name }) {
			return pbs.Errorf(pbs.InvalidRequest, "%s is no member of the cluster", name)
		}
	}
	return nil
}

// quorumIsLost refuses to recover what can help itself.
func quorumIsLost(members []raft.Server, survivors []LogEnd) error {
	voters, answer := 0, 0
	for _, m := range members {
		if m.Suffrage == raft.Voter {
			voters++
		}
	}
	for _, s := range survivors {
		if s.Voter {
			answer++
		}
		if s.Leader != "" {
			return pbs.Errorf(pbs.InvalidRequest, "%s hears a leader at %s: the cluster has a quorum", s.Name(), s.Leader)
		}
	}
	if answer >= voters/2+1 {
		return pbs.Errorf(pbs.InvalidRequest, "%d of the %d voters answer, which is a quorum: they elect a leader by themselves. "+
			"See `rampart cluster status` for what they wait for", answer, voters)
	}
	return nil
}

// Plan finds out what is to be done about a disaster from how far the logs of the members reach,
// or why one did not answer, and refuses what is not clearly a disaster.
func Plan(members []raft.Server, d Disaster, ends []LogEnd, failures []error) (Rescue, error) {
	var plan Rescue
	for i, m := range members {
		lost := slices.Contains(d.Lost, member.NameOf(m.ID))
		switch err := failures[i]; {
		case err == nil && lost:
			return Rescue{}, pbs.Errorf(pbs.InvalidRequest, "%s answers: it is not lost. Stop it first if its disk must not count", member.NameOf(m.ID))
		case err == nil:
			plan.Survivors = append(plan.Survivors, ends[i])
		case lost, d.Look && len(d.Lost) == 0:
			plan.Lost = append(plan.Lost, string(m.ID))
		default:
			return Rescue{}, pbs.Errorf(pbs.InvalidRequest, "%s does not answer (%v) and was not named as lost: start it, or name it if it is lost for good", member.NameOf(m.ID), err)
		}
	}
	if err := quorumIsLost(members, plan.Survivors); err != nil {
		return Rescue{}, err
	}
	slices.SortFunc(plan.Survivors, LogEnd.order)
	return plan, nil
}
