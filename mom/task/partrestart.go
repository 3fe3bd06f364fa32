package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// RestorePart asks a sister to start the programs of its part of the checkpoint again. Able says
// that the site has a script for it.
type RestorePart struct {
	Programs []Program
	Able     bool
}

func (RestorePart) event() {}

// stepRestore starts the programs once, whoever asks again.
func (t sister) stepRestore(ev RestorePart) (Task, []Action, error) {
	switch {
	case !t.Sister() || t.State() != Running || t.Checkpoints.Restart == nil:
		return t.Task, nil, t.refused("restart")
	case t.Checkpoints.Restart.Begun:
		return t.Task, nil, nil
	case !ev.Able && slices.ContainsFunc(ev.Programs, Program.restoring):
		return t.Task, nil, pbs.Errorf(pbs.BoundElsewhere, "there is no $action restart")
	}
	restart := *t.Checkpoints.Restart
	restart.Begun = true
	t.Checkpoints.Restart = &restart
	next, actions := t.restore(ev.Programs)
	return next, actions, nil
}

func (t Task) restore(programs []Program) (Task, []Action) {
	var actions []Action
	t.Programs = programs
	for _, p := range programs {
		if p.restoring() {
			actions = append(actions, Action{Do: StartProgram, Program: p.ID})
		}
	}
	return t, actions
}

// restoring reports whether the program is still to be started from its checkpoint.
func (p Program) restoring() bool { return p.State == ProgramStarting && p.Session != 0 }

// restored returns the programs of a run that goes on from a checkpoint, under the numbers that they
// had when it was made.
func restored(made Task) (all []Program) {
	for _, p := range made.Programs {
		if !p.Done() {
			p = Program{ID: p.ID, Key: p.Key, Node: p.Node, Args: p.Args, Env: p.Env, State: ProgramStarting, Session: int64(p.Handle.Session)}
		}
		all = append(all, p)
	}
	return all
}

// restored returns the programs that a run of this mother superior goes on with besides its first.
func (c *checkpoints) restored(t Task) []Program {
	if t.Checkpoints.Restart == nil {
		return nil
	}
	made, err := c.record(c.spool.Checkpoint(t.Key.Job))
	if err != nil {
		c.logger.Error("record of the checkpoint not read", "task", t.Key.String(), "err", err)
		return nil
	}
	return restored(made)
}

// restoredSpec puts the site's script in the place of a program that was checkpointed. Its output is
// the job's, if this host keeps that.
func (s *Site) restoredSpec(t Task, a Account, p Program, spec *proc.Spec) error {
	script := s.Settings().Actions.Restart
	if script == nil {
		return fmt.Errorf("%w: there is no $action restart", errBadRestart)
	}
	if !t.Sister() {
		job := s.spec(t, a)
		spec.Stdout, spec.Stderr, spec.StdoutInPlace, spec.StderrInPlace = job.Stdout, job.Stderr, job.StdoutInPlace, job.StderrInPlace
	}
	s.checkpoints().byScript(t, a, spec, script, saved{id: p.ID, session: p.Session, dir: s.Spool.Checkpoint(t.Key.Job)})
	return nil
}

// adopt leaves of a sister's checkpoints the one that the run goes on from.
func (c *checkpoints) adopt(t Task) error {
	if t.Checkpoints.Restart == nil || t.Checkpoints.Restart.Of == nil {
		return c.spool.DropCheckpoint(t.Key.Job)
	}
	if err := c.settle(t.Key.Job, t.Checkpoints.Restart.Of); err != nil {
		return fmt.Errorf("%w: %w", errBadRestart, err)
	}
	return nil
}

// joinRequests returns what each sister is asked to join: with the checkpoint, if it keeps a part of it.
func (c *checkpoints) joinRequests(t Task) (func(Host) Task, error) {
	if t.Checkpoints.Restart == nil {
		return func(Host) Task { return t }, nil
	}
	if err := c.spool.SettleCheckpoint(t.Key.Job); err != nil {
		return nil, err
	}
	made, err := c.record(c.spool.Checkpoint(t.Key.Job))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRestart, err)
	}
	with, without := *t.Checkpoints.Restart, *t.Checkpoints.Restart
	with.Of, without.Of = new(made.checkpointID()), nil
	keepers := made.keepers()
	return func(h Host) Task {
		own := t
		own.Checkpoints.Restart = &without
		if slices.Contains(keepers, h.Name) {
			own.Checkpoints.Restart = &with
		}
		return own
	}, nil
}

// Restore starts the programs of a sister's part again, and returns their numbers when they run.
// BoundElsewhere is the refusal when that can never be.
func (r *Runner) Restore(ctx context.Context) ([]uint32, error) {
	t := r.Task()
	if t.Checkpoints.Restart == nil || t.Checkpoints.Restart.Of == nil {
		return nil, t.refused("restart")
	}
	if !t.Checkpoints.Restart.Begun {
		made, err := r.site.checkpoints().record(r.site.Spool.Checkpoint(t.Key.Job))
		if err != nil || made.checkpointID() != *t.Checkpoints.Restart.Of || made.Node() != t.Node() {
			return nil, pbs.Errorf(pbs.BoundElsewhere, "%s: %v", r.site.Host, errNoPart)
		}
		if err := r.Tell(ctx, RestorePart{Programs: restored(made), Able: r.site.Settings().Actions.Restart != nil}); err != nil {
			return nil, err
		}
	}
	t, err := r.Await(ctx, func(t Task) bool { return t.State() != Running || !slices.ContainsFunc(t.Programs, Program.restoring) })
	switch {
	case err != nil:
		return nil, err
	case t.State() != Running:
		return nil, t.refused("restart")
	}
	var ids []uint32
	for _, p := range t.Programs {
		switch {
		case p.Session == 0:
		case p.Failed != "":
			return nil, pbs.Errorf(pbs.SystemError, "%s: task %08x: %s", r.site.Host, p.ID, p.Failed)
		default:
			ids = append(ids, p.ID)
		}
	}
	return ids, nil
}

// restartSisters starts the programs of the other hosts that keep a part of the checkpoint: only then
// comes the first program, so that what is missing anywhere ends a start and not a job.
func (s *Site) restartSisters(ctx context.Context, t Task) error {
	if t.Checkpoints.Restart == nil || len(t.sisters()) == 0 {
		return nil
	}
	parts, err := s.checkpoints().joinRequests(t)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, joinFor)
	defer cancel()
	errs := each(bounded, t.sisters(), func(ctx context.Context, h Host) error {
		if parts(h).Checkpoints.Restart.Of == nil {
			return nil
		}
		var ids []uint32
		err := s.insist(ctx, func(ctx context.Context) (err error) {
			ids, err = s.Peers.Restart(ctx, h, t.Key)
			return err
		})
		if err != nil {
			cancel() // nobody waits for the others
			return err
		}
		for _, id := range ids {
			if s.Relay != nil {
				s.Relay(t.Key, h.Name, id)
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var failed error
	for i, err := range errs {
		if err == nil || errors.Is(err, context.Canceled) {
			continue
		}
		err = s.startError(t, t.sisters()[i], "RESTART", err)
		if errors.Is(err, pbs.Refuse(pbs.BoundElsewhere)) {
			err = fmt.Errorf("%w: %w", errBadRestart, err)
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil && bounded.Err() != nil {
		failed = context.Cause(bounded)
	}
	return failed
}
