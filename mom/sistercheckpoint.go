package mom

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
)

// Checkpoint makes this host's part of a checkpoint. It waits for the scripts of the site for a while,
// and then says that they are still at work.
func (s sister) Checkpoint(ctx context.Context, r *connect.Request[api.CheckpointPartRequest]) (*connect.Response[api.CheckpointPartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	number := r.Msg.GetNumber()
	ev := task.SavePart{Number: number, Whole: checkpointID(r.Msg.GetWhole()), Able: s.settings.Load().Checkpoint != nil}
	if err := runner.Tell(ctx, ev); err != nil {
		return nil, notNow(err)
	}
	bounded, cancel := context.WithTimeout(ctx, task.SavePartWait)
	defer cancel()
	t, err := runner.Await(bounded, func(t task.Task) bool {
		return t.Checkpoints.Attempt != number || t.Checkpoints.Part.State != task.PartBusy
	})
	switch {
	case err != nil && ctx.Err() == nil && bounded.Err() != nil:
		return connect.NewResponse(&api.CheckpointPartReply{Busy: true}), nil
	case err != nil:
		return nil, notNow(err)
	case t.Checkpoints.Attempt != number || t.Checkpoints.Part.State == task.PartUnasked:
		return nil, pbs.Errorf(pbs.BadState, "%s: a later checkpoint was asked for", s.config.Host)
	case t.Checkpoints.Part.Failure != "":
		return nil, pbs.Errorf(pbs.SystemError, "%s", t.Checkpoints.Part.Failure)
	}
	return connect.NewResponse(&api.CheckpointPartReply{}), nil
}

// Restart starts the programs of this host's part of the checkpoint.
func (s sister) Restart(ctx context.Context, r *connect.Request[api.RestartPartRequest]) (*connect.Response[api.RestartPartReply], error) {
	runner, err := s.led(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	programs, err := runner.Restore(ctx)
	if err != nil {
		return nil, notNow(err)
	}
	return connect.NewResponse(&api.RestartPartReply{Programs: programs}), nil
}

// notNow lets whoever asks ask again, unless this mom refuses.
func notNow(err error) error {
	if _, refused := errors.AsType[*pbs.Error](err); refused {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, err)
}

func checkpointID(of *api.PartCheckpoint) *task.CheckpointID {
	if of == nil {
		return nil
	}
	return &task.CheckpointID{Run: pbs.RunCount(of.GetRunCount()), Number: of.GetNumber()}
}

func partCheckpoint(of *task.CheckpointID) *api.PartCheckpoint {
	if of == nil {
		return nil
	}
	return &api.PartCheckpoint{RunCount: uint32(of.Run), Number: of.Number}
}

// Checkpoint implements task.Peers.
func (p peers) Checkpoint(ctx context.Context, to task.Host, k spool.TaskKey, number uint64, whole *task.CheckpointID) (bool, error) {
	c, err := p.of(to)
	if err != nil {
		return false, err
	}
	reply, err := c.Checkpoint(ctx, connect.NewRequest(&api.CheckpointPartRequest{
		Job: string(k.Job), RunCount: uint32(k.Run), Number: number, Whole: partCheckpoint(whole),
	}))
	if err != nil {
		return false, transport.FromWire(err)
	}
	return reply.Msg.GetBusy(), nil
}

// Restart implements task.Peers.
func (p peers) Restart(ctx context.Context, to task.Host, k spool.TaskKey) ([]uint32, error) {
	c, err := p.of(to)
	if err != nil {
		return nil, err
	}
	reply, err := c.Restart(ctx, connect.NewRequest(&api.RestartPartRequest{Job: string(k.Job), RunCount: uint32(k.Run)}))
	if err != nil {
		return nil, transport.FromWire(err)
	}
	return reply.Msg.GetPrograms(), nil
}
