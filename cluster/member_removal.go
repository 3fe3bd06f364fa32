package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// finishAfter is the time that a leader leaves a removal to whoever asked for it: the answer
// may go through the replica that is removed.
const finishAfter = 2 * time.Second

// MayRemove refuses to remove a replica when those that are left, and answer, would be no
// quorum.
func (r *Replica) MayRemove(ctx context.Context, name pbs.ReplicaName) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("remove %s: %w", name, ErrNotLeader)
	}
	return member.MayRemove(r.census.look(ctx, n), name)
}

// Withdraw takes the votes from a replica whose removal is on record, so that it counts no
// more; FinishRemoval does the rest. Only the leader does this; repeating it does no harm.
func (r *Replica) Withdraw(ctx context.Context, name pbs.ReplicaName) error {
	return r.eachLeaving(name, func(n *node, x state.Removal) error { return r.withdraw(ctx, n, x) })
}

// FinishRemoval does all that is left to do for a replica whose removal is on record: it is
// off the record, and cut off, when it returns. Only the leader does this; repeating it
// does no harm.
func (r *Replica) FinishRemoval(ctx context.Context, name pbs.ReplicaName) error {
	return r.eachLeaving(name, func(n *node, x state.Removal) error { return r.finish(ctx, n, x) })
}

func (r *Replica) eachLeaving(name pbs.ReplicaName, do func(n *node, x state.Removal) error) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("remove %s: %w", name, ErrNotLeader)
	}
	var errs []error
	for _, x := range r.cfg.Machine.View().Leaving() {
		if x.Name == name && x.Barred() {
			errs = append(errs, do(n, x))
		}
	}
	return errors.Join(errs...)
}

// keepRemovals is a duty of the leader: it finishes what an earlier one has left, and what
// takes the place of the dead.
func (r *Replica) keepRemovals(ctx context.Context, n *node, k *member.Roll) error {
	var errs []error
	for _, x := range r.cfg.Machine.View().Leaving() {
		since := k.Leaves(x.ServerID, time.Now())
		switch {
		case !x.Barred():
			errs = append(errs, r.replace(ctx, n, k, x))
		case time.Since(since) >= finishAfter:
			errs = append(errs, r.finish(ctx, n, x))
		}
	}
	return errors.Join(errs...)
}

// withdraw takes a server out of Raft. The order matters: a server that counts and is cut
// off would cost an even number of voters their quorum.
func (r *Replica) withdraw(ctx context.Context, n *node, x state.Removal) error {
	id := raft.ServerID(x.ServerID)
	s, ok := n.server(id)
	if !ok {
		return nil
	}
	if s.Suffrage == raft.Voter {
		if err := member.MayRemove(r.census.look(ctx, n), x.Name); err != nil {
			return err
		}
	}
	if id == n.id {
		if err := r.transfer(ctx, n, ""); err != nil {
			return err
		}
		return fmt.Errorf("remove %s: %w", x.Name, ErrNotLeader)
	}
	r.cfg.Logger.Info("removing", "server", id)
	if err := n.raft.RemoveServer(id, 0, changeTimeout).Error(); err != nil {
		return fmt.Errorf("remove %s: %w", id, entryError(err))
	}
	return nil
}

func (r *Replica) finish(ctx context.Context, n *node, x state.Removal) error {
	if err := r.withdraw(ctx, n, x); err != nil {
		return err
	}
	_, err := r.proposals.propose(ctx, command.Proposal{Commands: leftCommands(r.cfg.Machine.View(), x)})
	if err != nil {
		return fmt.Errorf("take %s off the record: %w", x.ServerID, err)
	}
	return nil
}

// leftCommands take a server off the record; the gossip key that a barred one knows is
// replaced, unless that is under way already.
func leftCommands(v *state.View, x state.Removal) []command.Command {
	all := []command.Command{&command.ReplicaLeft{ServerID: x.ServerID}}
	if c := v.Cluster(); x.Barred() && len(c.GossipKeys) == 1 {
		key := make([]byte, command.GossipKeySize)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		all = append(all, &command.TurnGossipKeys{From: c.GossipGeneration, Keys: append(slices.Clone(c.GossipKeys), key)})
	}
	return all
}
