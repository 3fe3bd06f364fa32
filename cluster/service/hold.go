package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// checkpointWithin is how long qhold waits for the checkpoint of a running job. It is an order, and
// goes on if it takes longer.
const checkpointWithin = 20 * time.Second

// Hold sets holds on a job: qhold. A running one is checkpointed and ended where it can be.
func (b *Batch) Hold(ctx context.Context, r *connect.Request[api.HoldRequest]) (*connect.Response[api.HoldReply], error) {
	res, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		j, err := jobOf(p.view, r.Msg.GetJob())
		if err != nil {
			return nil, err
		}
		holds, err := pbs.ParseHolds(r.Msg.GetHolds())
		if err != nil {
			return nil, err
		}
		if err := mayHold(p, j, holds, typeHold); err != nil {
			return nil, err
		}
		if holds != 0 && j.State == pbs.Running {
			return []command.Command{&command.CheckpointJob{Job: j.ID, Holds: holds}}, nil
		}
		return []command.Command{&command.HoldJob{Job: j.ID, Holds: holds}}, nil
	})
	if err == nil && res.Order != 0 { // also at the leader that is asked again
		err = b.awaitCheckpoint(ctx, pbs.JobID(r.Msg.GetJob()), res.Run, r.Msg.GetHolds())
	}
	return reply(&api.HoldReply{}, err)
}

// awaitCheckpoint waits until the run was checkpointed, and tells of a failure, after which the
// holds are gone again. When that takes too long they are made to stay, before anybody is told
// that they are set (L1).
func (c *base) awaitCheckpoint(ctx context.Context, id pbs.JobID, run pbs.RunCount, types string) error {
	holds, err := pbs.ParseHolds(types)
	if err != nil {
		return err
	}
	defer transport.Working(ctx)()
	patience := time.NewTimer(checkpointWithin)
	defer patience.Stop()
	late := false
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, err)
		}
		j, err := jobOf(v, string(id))
		switch {
		case err != nil || !j.Is(run) || j.State != pbs.Running:
			return nil
		case !j.Checkpointing() && j.Holds&holds != holds:
			return pbs.Errorf(pbs.SystemError, "the job was not checkpointed: see the log of the mom on %s", j.Run.MS)
		case !j.Checkpointing() || late && j.Run.Checkpoint.Undo&holds == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, ctx.Err())
		case <-patience.C:
			late = true
			caller, _ := transport.CallerFrom(ctx)
			_, err := c.commit(ctx, caller.User, &command.HoldJob{Job: id, Holds: holds, Checkpointed: run})
			if _, refused := errors.AsType[*pbs.Error](err); err != nil && !refused {
				return fmt.Errorf("%w: %w", cluster.ErrOutcomeUnknown, err)
			}
		case <-changed:
		}
	}
}
