package cluster

import (
	"context"

	"rampart/fsm/command"
)

// keepClass is a duty of the leader: it puts the class with which the cluster was founded into
// the state. Whoever joined was told it.
func (r *Replica) keepClass(ctx context.Context) error {
	c := r.cfg.Machine.View().Cluster()
	if r.cfg.Class == "" || c.RTTClass != "" || c.FeatureLevel < command.LevelMembers {
		return nil
	}
	return r.proposals.decide(ctx, &command.SetRTTClass{Class: r.cfg.Class})
}
