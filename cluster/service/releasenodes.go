package service

import (
	"context"
	"errors"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/alloc"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// ReleaseNodes takes vnodes from a running job: pbs_release_nodes. It returns when the mother
// superior has saved the change and it is committed, or when it came to nothing.
func (b *Batch) ReleaseNodes(ctx context.Context, r *connect.Request[api.ReleaseNodesRequest]) (*connect.Response[api.ReleaseNodesReply], error) {
	soon, cancel := context.WithTimeout(ctx, startedWithin)
	defer cancel()
	for {
		res, err := b.releaseNow(ctx, r)
		if early, ok := errors.AsType[*starting](err); ok {
			if b.awaitStart(soon, r.Msg.GetJob()) != nil {
				return nil, early.error
			}
			continue
		}
		if _, busy := errors.AsType[*underWay](err); busy {
			if err := b.awaitRelease(ctx, r.Msg.GetJob()); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil || res.Release == 0 {
			return reply(&api.ReleaseNodesReply{}, err)
		}
		return reply(&api.ReleaseNodesReply{}, b.released(ctx, res))
	}
}

func (b *Batch) releaseNow(ctx context.Context, r *connect.Request[api.ReleaseNodesRequest]) (state.Result, error) {
	done, err := b.turnOf(ctx, r.Msg.GetJob())
	if err != nil {
		return state.Result{}, err
	}
	defer done()
	return b.change(ctx, r, func(p person) ([]command.Command, error) { return b.releaseNodes(p, r.Msg) })
}

// startedWithin is how long a release waits for the start of its run to be known: a program that
// releases vnodes as its first deed is sooner than the word of its mother superior.
const startedWithin = 3 * time.Second

// starting is the refusal of a release of a run whose program is about to run.
type starting struct{ error }

// Unwrap returns the refusal.
func (s *starting) Unwrap() error { return s.error }

// underWay is the refusal of a release while another one of the job is open: nothing was
// proposed, and it is tried again after that.
type underWay struct{ error }

// Unwrap returns the refusal.
func (u *underWay) Unwrap() error { return u.error }

// releaseNodes makes the command, or refuses in the order of the specification (ramp-down
// section 4).
func (b *Batch) releaseNodes(p person, r *api.ReleaseNodesRequest) ([]command.Command, error) {
	if r.GetKeep() != "" {
		if _, err := alloc.ParseWish(r.GetKeep(), p.view); err != nil && pbs.CodeOf(err) != pbs.UnknownResource {
			return nil, err
		}
	}
	if pbs.NamesReservation(r.GetJob()) { // the job of none
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	j, err := jobOf(p.view, r.GetJob())
	if err != nil {
		return nil, err
	}
	if j.State == pbs.Finished {
		return nil, pbs.Refuse(pbs.HasFinished)
	}
	if err := mayChange(p, j, typeRelNode); err != nil {
		return nil, err
	}
	cmd := &command.ReleaseNodes{Job: j.ID, Keep: r.GetKeep()}
	if r.GetVnodes() != "" {
		cmd.Vnodes = strings.Split(r.GetVnodes(), "+")
	}
	_, err = command.PlanRelease(p.view, j, cmd)
	switch pbs.CodeOf(err) {
	case 0:
		return []command.Command{cmd}, nil
	case pbs.ResourceBusy:
		return nil, &underWay{err}
	case pbs.BadState:
		if isStarting(j) {
			return nil, &starting{err}
		}
	case pbs.SystemError:
		return nil, &noted{err, pbs.LogDebug2, "Job", string(j.ID), linesOf(p.view, err)}
	}
	return nil, err
}

// linesOf returns what the server log says of a refusal.
func linesOf(v *state.View, err error) []string {
	if u, ok := errors.AsType[*alloc.Unsatisfied](err); ok {
		return u.Lines(v)
	}
	return []string{err.Error()}
}

// released waits for the outcome of a release.
func (b *Batch) released(ctx context.Context, res state.Result) error {
	return b.awaitJob(ctx, func(v *state.View) (bool, error) {
		j, ok := v.Job(res.Job)
		if !ok {
			return true, pbs.Refuse(pbs.BadState)
		}
		open, err := j.ReleaseOutcome(res.Release)
		return !open, err
	})
}

func isStarting(j *state.Job) bool {
	return j.State == pbs.Running && j.Substate == pbs.SubStarting
}

// awaitStart waits until the run of a job is no longer about to start.
func (b *Batch) awaitStart(ctx context.Context, job string) error {
	return b.awaitJob(ctx, func(v *state.View) (bool, error) {
		j, err := jobOf(v, job)
		return err != nil || !isStarting(j), nil
	})
}

// awaitRelease waits until no release of a job is open.
func (c *base) awaitRelease(ctx context.Context, job string) error {
	return c.awaitJob(ctx, func(v *state.View) (bool, error) {
		j, err := jobOf(v, job)
		return err != nil || j.LastRun().Release == nil, nil
	})
}

// awaitJob waits until done says so of a view.
func (c *base) awaitJob(ctx context.Context, done func(v *state.View) (bool, error)) error {
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return err
		}
		if over, err := done(v); over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
