package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// proposals is the way into the log: together with others (batcher), or past them. What may refuse
// one knows why: for lack of room, or because nobody knows which state is right.
type proposals struct {
	raft    *localRaft
	machine viewer
	gates   []func(command.Proposal) error
	batch   *batcher
	naming  naming // of large scripts
	meter   *meter
}

// viewer has the replicated state.
type viewer interface{ View() *state.View }

// propose is Replica.Propose.
func (p *proposals) propose(ctx context.Context, what command.Proposal) (command.Outcome, error) {
	end := p.meter.propose()
	out, err := p.try(ctx, what)
	end(err)
	return out, err
}

func (p *proposals) try(ctx context.Context, what command.Proposal) (command.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return command.Outcome{}, fmt.Errorf("propose: %w: %w", ErrNotLeader, err)
	}
	for _, refuse := range p.gates {
		if err := refuse(what); err != nil {
			return command.Outcome{}, err
		}
	}
	leave, err := p.enterNaming(ctx, what)
	if err != nil {
		return command.Outcome{}, err
	}
	req, err := p.batch.add(what, leave)
	if err != nil {
		leave(err)
		return command.Outcome{}, err
	}
	select {
	case <-req.done:
	case <-ctx.Done():
		return command.Outcome{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, ctx.Err())
	}
	if req.err != nil {
		return command.Outcome{}, req.err
	}
	return req.outcome, req.outcome.Err()
}

// decide proposes one command.
func (p *proposals) decide(ctx context.Context, c command.Command) error {
	if _, err := p.propose(ctx, command.Proposal{Commands: []command.Command{c}}); err != nil {
		return fmt.Errorf("%s: %w", command.NameOf(c), err)
	}
	return nil
}

// alone puts commands into an entry of their own, past the batcher: the first
// ones of a term go before all that waits, and ticks go on when writes have stopped.
func (p *proposals) alone(e command.Entry, commands ...command.Command) error {
	e.Proposals = []command.Proposal{{Commands: commands}}
	data, err := command.Encode(e)
	if err != nil {
		return err
	}
	outcomes, err := result(p.raft.apply(data))
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
