package cluster

import (
	"context"

	"rampart/cluster/member"
	"rampart/fsm/command"
)

// raiseLevel raises the cluster's feature level when every voter answers and knows a
// higher one (L4).
func (m *membership) raiseLevel(ctx context.Context, members []member.Answer) error {
	level, ok := member.CommonLevel(members, m.level)
	if !ok || level <= m.machine.View().Cluster().FeatureLevel {
		return nil
	}
	m.logger.Info("raising the feature level", "level", level)
	_, err := m.proposals.propose(ctx, command.Proposal{Commands: []command.Command{&command.RaiseLevel{Level: level}}})
	return err
}
