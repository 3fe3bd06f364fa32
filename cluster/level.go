package cluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
)

// raiseLevel raises the cluster's feature level when every voter answers and knows a
// higher one (L4): one that is away might come back as the older build that it was.
func (r *Replica) raiseLevel(ctx context.Context, members []member) error {
	level := r.cfg.Self.FeatureLevel
	for _, m := range members {
		if m.server.Suffrage != raft.Voter {
			continue
		}
		if m.err != nil {
			return nil
		}
		level = min(level, m.status.Self.FeatureLevel)
	}
	if level <= r.cfg.Machine.View().Cluster().FeatureLevel {
		return nil
	}
	r.cfg.Logger.Info("raising the feature level", "level", level)
	_, err := r.Propose(ctx, command.Proposal{Commands: []command.Command{&command.RaiseLevel{Level: level}}})
	return err
}

// checkLevel refuses to start a build that the cluster, as this disk knows it, has
// left behind.
func (r *Replica) checkLevel() error {
	r.knowing.take() // others may ask already, and what they ask is learned
	known := r.known.Level
	r.knowing.give()
	if known > r.cfg.Self.FeatureLevel {
		return fmt.Errorf("%w: it is at feature level %d, this build knows %d", command.ErrTooOld, known, r.cfg.Self.FeatureLevel)
	}
	return nil
}
