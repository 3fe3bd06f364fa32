package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
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

// removals takes servers off the record, and out of Raft: those that somebody wants to be gone, and
// those whose place was taken.
type removals struct {
	raft      *localRaft
	machine   viewer
	proposals *proposals
	census    *census
	handover  *handover
	logger    *slog.Logger
}

// may refuses to remove a replica when those that are left, and answer, would be no quorum.
func (r *removals) may(ctx context.Context, name pbs.ReplicaName) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("remove %s: %w", name, ErrNotLeader)
	}
	return member.MayRemove(r.census.look(ctx, n), name)
}

// each does something for each server of a replica whose removal is on record.
func (r *removals) each(name pbs.ReplicaName, do func(n *node, x state.Removal) error) error {
	n := r.raft.leading()
	if n == nil {
		return fmt.Errorf("remove %s: %w", name, ErrNotLeader)
	}
	var errs []error
	for _, x := range r.machine.View().Leaving() {
		if x.Name == name && x.Barred() {
			errs = append(errs, do(n, x))
		}
	}
	return errors.Join(errs...)
}

// keep is a duty of the leader: it finishes what an earlier one has left, and what
// takes the place of the dead.
func (r *removals) keep(ctx context.Context, n *node, k *member.Roll) error {
	var errs []error
	for _, x := range r.machine.View().Leaving() {
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
func (r *removals) withdraw(ctx context.Context, n *node, x state.Removal) error {
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
		if err := r.handover.transfer(ctx, n, ""); err != nil {
			return err
		}
		return fmt.Errorf("remove %s: %w", x.Name, ErrNotLeader)
	}
	r.logger.Info("removing", "server", id)
	if err := n.raft.RemoveServer(id, 0, changeTimeout).Error(); err != nil {
		return fmt.Errorf("remove %s: %w", id, entryError(err))
	}
	return nil
}

func (r *removals) finish(ctx context.Context, n *node, x state.Removal) error {
	if err := r.withdraw(ctx, n, x); err != nil {
		return err
	}
	_, err := r.proposals.propose(ctx, command.Proposal{Commands: leftCommands(r.machine.View(), x)})
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
