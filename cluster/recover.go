package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

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

// A Rescue is what is done about a disaster, or would be.
type Rescue struct {
	Survivors []LogEnd // the furthest first: it goes on, the others begin anew
	Lost      []string // server ids
	Epoch     uint64   // that begins; 0: nothing was done
	Committed uint64   // index up to which the furthest knows that its log was committed
	Time      pbs.Time // of the last entry that it has applied; 0: none, its Raft does not run
}

// Chosen is the survivor that goes on.
func (r *Rescue) Chosen() LogEnd { return r.Survivors[0] }

// Anew are the ids of the survivors that begin with empty stores.
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

// Name is that of the replica.
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

// Recover makes the cluster go on without a quorum. It asks every member how far its log
// reaches and relays the request to the furthest; that one writes down what it will do and
// starts again, as the only voter (Run returns ErrAgain). It refuses while a quorum answers
// or leads, while somebody who was named as lost answers, and while somebody does not who
// was not named.
func (r *Replica) Recover(ctx context.Context, d Disaster) (Rescue, error) {
	plan, err := r.survey(ctx, d)
	if err != nil {
		return Rescue{}, fmt.Errorf("recover: %w", err)
	}
	switch chosen := plan.Chosen(); {
	case chosen.ServerID == string(r.id):
	case d.Relayed:
		return Rescue{}, fmt.Errorf("recover: %w", pbs.Errorf(pbs.InvalidRequest, "the log of %s has become the furthest meanwhile: ask again", chosen.Name()))
	default:
		d.Relayed = true
		return r.cfg.Peers.Recover(ctx, chosen.Address, d)
	}
	plan.Committed, plan.Time = r.Status().Commit, r.cfg.Machine.View().Now()
	if d.Look {
		return plan, nil
	}
	if err := r.goOnAlone(&plan, d.By); err != nil {
		return Rescue{}, fmt.Errorf("recover: %w", err)
	}
	return plan, nil
}

// survey asks every member, and refuses what is not clearly a disaster.
func (r *Replica) survey(ctx context.Context, d Disaster) (Rescue, error) {
	members := r.membersNow()
	i := slices.IndexFunc(members, func(s raft.Server) bool { return s.ID == r.id })
	if i < 0 {
		return Rescue{}, pbs.Errorf(pbs.InvalidRequest, "%s is no member of the cluster: ask at one that is", r.cfg.Self.Name)
	}
	if err := named(members, d); err != nil {
		return Rescue{}, err
	}
	ends, failures := r.askEnds(ctx, members)
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

// membersNow are the members as Raft has them, or the disk before Raft runs.
func (r *Replica) membersNow() []raft.Server {
	if n := r.node.Load(); n != nil {
		return n.servers()
	}
	return r.members.Servers
}

func named(members []raft.Server, d Disaster) error {
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

// askEnds asks all members at once how far their logs reach.
func (r *Replica) askEnds(ctx context.Context, members []raft.Server) (ends []LogEnd, failures []error) {
	ctx, cancel := context.WithTimeout(ctx, r.far(startTimeout))
	defer cancel()
	ends, failures = make([]LogEnd, len(members)), make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { ends[i], failures[i] = r.endOf(ctx, m) })
	}
	wg.Wait()
	return ends, failures
}

// endOf asks one member. One that answers under another id is not it, but a process with
// another disk: that of the member is lost.
func (r *Replica) endOf(ctx context.Context, m raft.Server) (end LogEnd, err error) {
	if m.ID == r.id {
		end, err = r.LogEnd()
	} else {
		end, err = r.cfg.Peers.LogEnd(ctx, string(m.Address))
	}
	if err == nil && end.ServerID != string(m.ID) {
		err = errOtherServer
	}
	end.Address, end.Voter = string(m.Address), m.Suffrage == raft.Voter
	return end, err
}

// LogEnd returns how far the log of this replica reaches, as it is on the disk. It needs
// neither a leader nor that Raft runs.
func (r *Replica) LogEnd() (LogEnd, error) {
	end := LogEnd{ServerID: string(r.id), Address: r.cfg.Self.Address}
	if at, _, ok := r.Leader(); ok {
		end.Leader = at
	}
	index, term, err := r.store.Last()
	if err != nil {
		return LogEnd{}, fmt.Errorf("read the end of the log: %w", err)
	}
	end.Index, end.Term = index, term
	return end, nil
}
