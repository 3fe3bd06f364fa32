package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/planted"
)

// Propose commits a proposal and returns its outcome. The error wraps one of: a
// refusal (*pbs.Error), which the outcome holds as well; ErrNotLeader, when the
// proposal never entered the log; ErrOutcomeUnknown, when it may yet take effect.
// A repeat is answered by the state, which remembers (L8).
func (r *Replica) Propose(ctx context.Context, p command.Proposal) (command.Outcome, error) {
	end := r.meter.propose()
	out, err := r.propose(ctx, p)
	end(err)
	return out, err
}

func (r *Replica) propose(ctx context.Context, p command.Proposal) (command.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return command.Outcome{}, fmt.Errorf("propose: %w: %w", ErrNotLeader, err)
	}
	if why := r.split.Load(); why != nil {
		return command.Outcome{}, fmt.Errorf("propose: %w: %s", ErrNotLeader, *why)
	}
	if err := r.disk.roomTo(p); err != nil {
		return command.Outcome{}, err
	}
	leave, err := r.enterNaming(ctx, p)
	if err != nil {
		return command.Outcome{}, err
	}
	req, err := r.batch.add(p, leave)
	if err != nil {
		leave(err)
		return command.Outcome{}, err
	}
	select {
	case <-req.done:
	case <-ctx.Done():
		return command.Outcome{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, ctx.Err())
	}
	if planted.Bug == planted.UnknownIsDone && errors.Is(req.err, ErrOutcomeUnknown) {
		return command.Outcome{}, nil
	}
	if req.err != nil {
		return command.Outcome{}, req.err
	}
	return req.outcome, req.outcome.Err()
}

// proposeAlone puts commands into an entry of their own, past the batcher: the first
// ones of a term go before all that waits, and ticks go on when writes have stopped.
func (r *Replica) proposeAlone(e command.Entry, commands ...command.Command) error {
	e.Proposals = []command.Proposal{{Commands: commands}}
	data, err := command.Encode(e)
	if err != nil {
		return err
	}
	outcomes, err := result(r.raft.apply(data))
	if err != nil {
		return fmt.Errorf("propose %T: %w", commands[0], err)
	}
	if len(outcomes) != 1 {
		return fmt.Errorf("propose %T: %d outcomes", commands[0], len(outcomes))
	}
	return outcomes[0].Err()
}

// result waits for an entry to be applied here, or not.
func result(f raft.ApplyFuture) ([]command.Outcome, error) {
	if err := f.Error(); err != nil {
		return nil, entryError(err)
	}
	outcomes, ok := f.Response().([]command.Outcome)
	if !ok {
		return nil, fmt.Errorf("%w: the state machine answered %T", ErrOutcomeUnknown, f.Response())
	}
	return outcomes, nil
}

// entryError sorts Raft's failures into those before and those after the entry
// may have reached a disk. What is not known to be harmless is unknown.
func entryError(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	default:
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
}
