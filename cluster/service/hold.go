package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
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
		case !j.LastRun().Checkpointing() && j.Holds&holds != holds:
			return pbs.Errorf(pbs.SystemError, "the job was not checkpointed: see the log of the mom on %s", j.Run.MS)
		case !j.LastRun().Checkpointing() || late && j.Run.Checkpoint.Undo&holds == 0:
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

// mayHold permits each hold type to those who may set it.
func mayHold(p person, j *state.Job, holds pbs.Holds, request int) error {
	need := attr.User
	if holds&pbs.HoldOperator != 0 {
		need = attr.Operator
	}
	if holds&(pbs.HoldSystem|pbs.HoldPassword) != 0 {
		need = attr.Manager
	}
	if p.perm < need {
		return denyJob(p, j, request)
	}
	return mayChange(p, j, request)
}

// keptHolds permits a new list of holds to those who may set each of them, and returns the holds that they leave on the job: qalter -h gives
// the whole list, and takes off only what qrls would.
func keptHolds(p person, j *state.Job, changes []command.AttrChange) (pbs.Holds, error) {
	for _, ch := range changes {
		if ch.Entry.Name != "Hold_Types" {
			continue
		}
		if holds, err := pbs.ParseHolds(ch.Entry.Value); err == nil {
			if err := mayHold(p, j, holds, typeAlter); err != nil {
				return 0, err
			}
		}
		switch {
		case p.perm < attr.Operator:
			return pbs.HoldOperator | pbs.HoldSystem | pbs.HoldPassword, nil
		case p.perm < attr.Manager:
			return pbs.HoldSystem | pbs.HoldPassword, nil
		}
	}
	return 0, nil
}
