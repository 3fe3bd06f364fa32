package service

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// checkpointWithin is how long qhold waits for the checkpoint of a running job, less than the
// budget of a request. It is an order, and goes on if it takes longer.
const checkpointWithin = 20 * time.Second

// Hold sets holds on a job: qhold. A running one is checkpointed and ended where it can be.
func (b *Batch) Hold(ctx context.Context, r *connect.Request[api.HoldRequest]) (*connect.Response[api.HoldReply], error) {
	var holds pbs.Holds
	var run pbs.RunCount
	res, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		j, err := jobOf(p.view, r.Msg.GetJob())
		if err != nil {
			return nil, err
		}
		if holds, err = pbs.ParseHolds(r.Msg.GetHolds()); err != nil {
			return nil, err
		}
		if err := mayHold(p, j, holds, typeHold); err != nil {
			return nil, err
		}
		if run = j.RunCount; holds != 0 && j.State == pbs.Running && p.view.Cluster().FeatureLevel >= command.LevelObjects {
			return []command.Command{&command.CheckpointJob{Job: j.ID, Holds: holds}}, nil
		}
		return []command.Command{&command.HoldJob{Job: j.ID, Holds: holds}}, nil
	})
	if err == nil && res.Order != 0 {
		err = b.awaitCheckpoint(ctx, pbs.JobID(r.Msg.GetJob()), run, holds)
	}
	return reply(&api.HoldReply{}, err)
}

// awaitCheckpoint waits until the run was checkpointed, and tells of a failure, after which the
// holds are gone again.
func (c *Config) awaitCheckpoint(ctx context.Context, id pbs.JobID, run pbs.RunCount, holds pbs.Holds) error {
	ctx, cancel := context.WithTimeout(ctx, checkpointWithin)
	defer cancel()
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return nil
		}
		j, err := jobOf(v, string(id))
		switch {
		case err != nil || j.RunCount != run || j.State != pbs.Running:
			return nil
		case !j.Checkpointing() && j.Holds&holds != holds:
			return pbs.Errorf(pbs.SystemError, "the job was not checkpointed: see the log of the mom on %s", j.MS)
		case !j.Checkpointing():
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}
