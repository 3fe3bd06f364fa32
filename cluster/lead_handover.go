package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
)

// A handover gives leadership to another replica.
type handover struct {
	self   pbs.ReplicaName
	raft   *localRaft
	census *census
	logger *slog.Logger
}

// ask hands leadership to the named replica, or to the best one if the name is empty, and returns
// when this replica no longer leads.
func (h *handover) ask(ctx context.Context, to pbs.ReplicaName) error {
	n := h.raft.leading()
	if n == nil {
		return fmt.Errorf("transfer leadership: %w", ErrNotLeader)
	}
	return h.transfer(ctx, n, to)
}

// transfer asks the candidates first: Raft would pick the one that it last sent
// most to, dead or alive.
func (h *handover) transfer(ctx context.Context, n *node, to pbs.ReplicaName) error {
	if to == h.self {
		return nil
	}
	candidates := member.Successors(h.census.look(ctx, n), n.id, to)
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

// leave tries to leave the cluster with a leader.
func (h *handover) leave(ctx context.Context, n *node) {
	if !n.isLeader() || len(n.otherVoters()) == 0 {
		return
	}
	if err := h.transfer(ctx, n, ""); err != nil {
		h.logger.Warn("stopping without a transfer of leadership", "err", err)
	}
}
