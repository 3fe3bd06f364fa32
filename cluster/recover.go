package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/recovery"
	"rampart/cluster/store"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ErrAgain means that this replica has to be started again, by the same process: its stores
// are another's now.
var ErrAgain = errors.New("the replica has to start again")

// A rescue is what one replica does for a cluster that has lost its quorum for good (package recovery
// has the rules): it asks how far the logs reach, goes on alone with the furthest, or begins anew when
// another's goes on.
type rescue struct {
	self     state.Replica
	store    *store.Store
	identity *identity.Record
	raft     *localRaft
	machine  viewer
	peers    Peers
	pace     pace
	clock    func() time.Time
	again    func() context.CancelCauseFunc // returns what ends Run; nil: it does not run
	logger   *slog.Logger

	decision *recovery.Decision // to go on alone; nil: there is none, or its epoch has begun
}

// begin is Replica.Recover.
func (r *rescue) begin(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	plan, err := r.survey(ctx, d)
	if err != nil {
		return recovery.Rescue{}, fmt.Errorf("recover: %w", err)
	}
	switch chosen := plan.Chosen(); {
	case chosen.ServerID == string(r.raft.id):
	case d.Relayed:
		return recovery.Rescue{}, fmt.Errorf("recover: %w", pbs.Errorf(pbs.InvalidRequest, "the log of %s has become the furthest meanwhile: ask again", chosen.Name()))
	default:
		d.Relayed = true
		return r.peers.Recover(ctx, chosen.Address, d)
	}
	if n := r.raft.node.Load(); n != nil {
		plan.Committed = n.raft.CommitIndex()
	}
	plan.Time = r.machine.View().Now()
	if d.Look {
		return plan, nil
	}
	if err := r.goOnAlone(&plan, d.By); err != nil {
		return recovery.Rescue{}, fmt.Errorf("recover: %w", err)
	}
	return plan, nil
}

// survey asks every member, and refuses what is not clearly a disaster.
func (r *rescue) survey(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	members := r.raft.servers()
	i := slices.IndexFunc(members, func(s raft.Server) bool { return s.ID == r.raft.id })
	if i < 0 {
		return recovery.Rescue{}, pbs.Errorf(pbs.InvalidRequest, "%s is no member of the cluster: ask at one that is", r.self.Name)
	}
	if err := recovery.Named(members, d); err != nil {
		return recovery.Rescue{}, err
	}
	ends, failures := r.askEnds(ctx, members)
	return recovery.Plan(members, d, ends, failures)
}

// askEnds asks all members at once how far their logs reach.
func (r *rescue) askEnds(ctx context.Context, members []raft.Server) (ends []recovery.LogEnd, failures []error) {
	ctx, cancel := context.WithTimeout(ctx, r.pace.far(startTimeout))
	defer cancel()
	ends, failures = make([]recovery.LogEnd, len(members)), make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() { ends[i], failures[i] = r.endOf(ctx, m) })
	}
	wg.Wait()
	return ends, failures
}

// endOf asks one member. One that answers under another id is not it, but a process with
// another disk: that of the member is lost.
func (r *rescue) endOf(ctx context.Context, m raft.Server) (end recovery.LogEnd, err error) {
	if m.ID == r.raft.id {
		end, err = r.logEnd()
	} else {
		end, err = r.peers.LogEnd(ctx, string(m.Address))
	}
	if err == nil && end.ServerID != string(m.ID) {
		err = errOtherServer
	}
	end.Address, end.Voter = string(m.Address), m.Suffrage == raft.Voter
	return end, err
}

// logEnd returns how far the log of this replica reaches, as it is on the disk. It needs
// neither a leader nor that Raft runs.
func (r *rescue) logEnd() (recovery.LogEnd, error) {
	end := recovery.LogEnd{ServerID: string(r.raft.id), Address: r.self.Address}
	if at, _, ok := r.raft.leader(); ok {
		end.Leader = at
	}
	index, term, err := r.store.Last()
	if err != nil {
		return recovery.LogEnd{}, fmt.Errorf("read the end of the log: %w", err)
	}
	end.Index, end.Term = index, term
	return end, nil
}
