package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// lookEvery is how often the leader looks after the members.
	lookEvery = 500 * time.Millisecond
	// A non-voter becomes a voter when it was no more than member.Lag entries behind
	// for promoteAfter. A cluster of one or two outlives no loss: there it is enough at
	// two looks, one after the other.
	promoteAfter  = 1500 * time.Millisecond
	promoteSooner = lookEvery * 4 / 5
	// changeTimeout bounds the wait for an earlier change of members.
	changeTimeout = 5 * time.Second
)

// AddReplica makes a replica, whose store is new, a non-voter; it becomes a voter
// when it has caught up. A member with the same name and another disk is removed
// first: it is the same host without its memory, and must not be counted twice.
// Only the leader does this; repeating it does no harm.
func (r *Replica) AddReplica(ctx context.Context, joined state.Replica) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("add replica %s: %w", joined.Name, ErrNotLeader)
	}
	id, addr := raft.ServerID(joined.ServerID), raft.ServerAddress(joined.Address)
	if member.NameOf(id) != joined.Name || addr == "" {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s at %q is not a server of replica %s", id, addr, joined.Name))
	}
	if r.cfg.Machine.View().Barred(joined.ServerID) {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s was removed; a new token for its host brings it back, into an empty home", id))
	}
	if by := r.identity.Replaced(joined); by != "" {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s has taken the place of %s", by, id))
	}
	for _, s := range n.servers() {
		if member.NameOf(s.ID) == joined.Name && s.ID != id {
			if err := n.raft.RemoveServer(s.ID, 0, changeTimeout).Error(); err != nil {
				return fmt.Errorf("remove %s: %w", s.ID, entryError(err))
			}
		}
	}
	if m, ok := n.server(id); !ok || m.Address != addr {
		if err := n.raft.AddNonvoter(id, addr, 0, changeTimeout).Error(); err != nil {
			return fmt.Errorf("add %s: %w", id, entryError(err))
		}
	}
	known, ok := r.cfg.Machine.View().Replica(joined.Name)
	if ok && known.ServerID == joined.ServerID && known.Address == joined.Address {
		return nil // what else it announces, the leader asks it for
	}
	joined.Generation, joined.Start = 0, "" // this start may never be: its Raft has not started
	if ok && known.ServerID == joined.ServerID {
		joined.Generation, joined.Start = known.Generation, known.Start
	}
	return r.announce(ctx, joined)
}

// announce puts into the state what a member tells of itself.
func (r *Replica) announce(ctx context.Context, of state.Replica) error {
	p := command.Proposal{Commands: []command.Command{&command.PutReplica{Replica: of}}}
	if _, err := r.proposals.propose(ctx, p); err != nil {
		return fmt.Errorf("announce replica %s: %w", of.Name, err)
	}
	return nil
}

// keepMembers is a duty of the leader: what the members announce gets into the
// state, and those that have caught up get a vote.
func (r *Replica) keepMembers(ctx context.Context, n *node, term uint64) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	k := member.NewRoll()
	home := member.NewHome(r.cfg.Machine.View())
	defer r.proposals.naming.release()
	for {
		members := r.census.look(ctx, n)
		k.Call(members, time.Now())
		for _, m := range members {
			if err := r.keepMember(ctx, n, term, m, k); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
				r.cfg.Logger.Warn("cannot look after a member", "server", m.Server.ID, "err", err)
			}
		}
		if r.proposals.naming.settle(time.Now()) {
			k.Again()
		}
		if err := r.keepDisks(ctx, n, members); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			r.cfg.Logger.Warn("cannot hand over for the sake of the disk", "err", err)
		}
		if name := r.cfg.Machine.View().Cluster().Name; home.Due(members, n.id, name, n.raft.CommitIndex(), time.Now()) {
			r.cfg.Logger.Info("handing over to the replica that the server is named after", "to", name)
			if err := r.transfer(ctx, n, pbs.ReplicaName(name)); err != nil && ctx.Err() == nil {
				r.cfg.Logger.Warn("cannot hand over to the replica that the server is named after", "err", err)
			}
		}
		if err := r.keepRemovals(ctx, n, k); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			r.cfg.Logger.Warn("cannot remove a replica yet", "err", err)
		}
		if err := r.keepClass(ctx); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			r.cfg.Logger.Warn("cannot set the class of round-trip times", "err", err)
		}
		if err := r.raiseLevel(ctx, members); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			r.cfg.Logger.Warn("cannot raise the feature level", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// keepDisks hands over for the sake of the disk, or holds writes by the room of the voters.
func (r *Replica) keepDisks(ctx context.Context, n *node, members []member.Answer) error {
	if to, ok := r.disk.relief(n, members); ok {
		return r.transfer(ctx, n, to)
	}
	r.disk.holdWrites(members)
	return nil
}

func (r *Replica) keepMember(ctx context.Context, n *node, term uint64, m member.Answer, k *member.Roll) error {
	if m.Err != nil {
		k.Forget(m.Server.ID)
		return nil // status and gossip tell of it
	}
	if r.cfg.Machine.View().Barred(string(m.Server.ID)) {
		return nil // it leaves
	}
	if m.Status.Term == 0 {
		return nil // its Raft has not started, and this start may never have been
	}
	known, ok := r.cfg.Machine.View().Replica(m.Status.Self.Name)
	if self := r.announced(m.Status.Self); !ok || *known != self {
		if err := r.announce(ctx, self); err != nil {
			return err
		}
	}
	if m.Server.Suffrage == raft.Voter {
		return nil
	}
	enough := promoteAfter
	if len(n.otherVoters()) < 2 {
		enough = promoteSooner
	}
	if !k.Stable(m.Server.ID, m.CaughtUp(term, n.raft.CommitIndex()), time.Now(), enough) {
		return nil
	}
	if !r.hasScripts(n, k, m) {
		return nil
	}
	defer r.proposals.naming.release()
	return r.promote(ctx, n, k, m.Server)
}

// Transfer hands leadership to the named replica, or to the best one if the name
// is empty, and returns when this replica no longer leads.
func (r *Replica) Transfer(ctx context.Context, to pbs.ReplicaName) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("transfer leadership: %w", ErrNotLeader)
	}
	return r.transfer(ctx, n, to)
}

// transfer asks the candidates first: Raft would pick the one that it last sent
// most to, dead or alive.
func (r *Replica) transfer(ctx context.Context, n *node, to pbs.ReplicaName) error {
	if to == r.cfg.Self.Name {
		return nil
	}
	candidates := member.Successors(r.census.look(ctx, n), n.id, to)
	if len(candidates) == 0 {
		return fmt.Errorf("transfer leadership: %w", pbs.Errorf(pbs.InvalidRequest, "no voter %s is reachable", to))
	}
	var errs []error
	for _, c := range candidates {
		err := n.raft.LeadershipTransferToServer(c.Server.ID, c.Server.Address).Error()
		if err == nil || !n.isLeader() {
			return nil
		}
		errs = append(errs, fmt.Errorf("to %s: %w", member.NameOf(c.Server.ID), err))
	}
	return fmt.Errorf("transfer leadership: %w", errors.Join(errs...))
}

// A Member is a replica as Raft has it.
type Member struct {
	Name    pbs.ReplicaName
	Address string
	Voter   bool
	Self    bool
}

// Members returns the replicas of the cluster; nobody before Raft runs here.
func (r *Replica) Members() []Member { return r.raft.members() }
