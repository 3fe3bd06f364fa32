package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"rampart/cluster/recovery"
	"rampart/fsm/pbs"
)

// ErrAgain means that this replica has to be started again, by the same process: its stores
// are another's now.
var ErrAgain = errors.New("the replica has to start again")

// Recover makes the cluster go on without a quorum. It asks every member how far its log
// reaches and relays the request to the furthest; that one writes down what it will do and
// starts again, as the only voter (Run returns ErrAgain). It refuses while a quorum answers
// or leads, while somebody who was named as lost answers, and while somebody does not who
// was not named.
func (r *Replica) Recover(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	plan, err := r.survey(ctx, d)
	if err != nil {
		return recovery.Rescue{}, fmt.Errorf("recover: %w", err)
	}
	switch chosen := plan.Chosen(); {
	case chosen.ServerID == string(r.id):
	case d.Relayed:
		return recovery.Rescue{}, fmt.Errorf("recover: %w", pbs.Errorf(pbs.InvalidRequest, "the log of %s has become the furthest meanwhile: ask again", chosen.Name()))
	default:
		d.Relayed = true
		return r.cfg.Peers.Recover(ctx, chosen.Address, d)
	}
	plan.Committed, plan.Time = r.Status().Commit, r.cfg.Machine.View().Now()
	if d.Look {
		return plan, nil
	}
	if err := r.goOnAlone(&plan, d.By); err != nil {
		return recovery.Rescue{}, fmt.Errorf("recover: %w", err)
	}
	return plan, nil
}

// survey asks every member, and refuses what is not clearly a disaster.
func (r *Replica) survey(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	members := r.raft.servers()
	i := slices.IndexFunc(members, func(s raft.Server) bool { return s.ID == r.id })
	if i < 0 {
		return recovery.Rescue{}, pbs.Errorf(pbs.InvalidRequest, "%s is no member of the cluster: ask at one that is", r.cfg.Self.Name)
	}
	if err := recovery.Named(members, d); err != nil {
		return recovery.Rescue{}, err
	}
	ends, failures := r.askEnds(ctx, members)
	return recovery.Plan(members, d, ends, failures)
}

// askEnds asks all members at once how far their logs reach.
func (r *Replica) askEnds(ctx context.Context, members []raft.Server) (ends []recovery.LogEnd, failures []error) {
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
func (r *Replica) endOf(ctx context.Context, m raft.Server) (end recovery.LogEnd, err error) {
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
func (r *Replica) LogEnd() (recovery.LogEnd, error) {
	end := recovery.LogEnd{ServerID: string(r.id), Address: r.cfg.Self.Address}
	if at, _, ok := r.Leader(); ok {
		end.Leader = at
	}
	index, term, err := r.store.Last()
	if err != nil {
		return recovery.LogEnd{}, fmt.Errorf("read the end of the log: %w", err)
	}
	end.Index, end.Term = index, term
	return end, nil
}
