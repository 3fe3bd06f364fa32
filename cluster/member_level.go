package cluster

import (
	"context"

	"rampart/cluster/member"
	"rampart/fsm/command"
)

// raiseLevel raises the cluster's feature level when every voter answers and knows a
// higher one (L4).
func (r *Replica) raiseLevel(ctx context.Context, members []member.Answer) error {
	level, ok := member.CommonLevel(members, r.cfg.Self.FeatureLevel)
	if !ok || level <= r.cfg.Machine.View().Cluster().FeatureLevel {
		return nil
	}
	r.cfg.Logger.Info("raising the feature level", "level", level)
	_, err := r.proposals.propose(ctx, command.Proposal{Commands: []command.Command{&command.RaiseLevel{Level: level}}})
	return err
}
