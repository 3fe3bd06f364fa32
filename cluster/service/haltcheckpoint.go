package service

import (
	"context"

	"golang.org/x/sync/errgroup"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// checkpoint has the jobs checkpointed and ended that can be: they go on from there when the
// servers are back. It returns when none is at it any more, or after checkpointWithin.
func (h *Halt) checkpoint(ctx context.Context, p person) error {
	v, err := h.present(ctx)
	if err != nil {
		return err
	}
	asked := make(map[pbs.JobID]bool)
	all, calls := errgroup.WithContext(ctx)
	all.SetLimit(requeueAtOnce)
	for j := range v.Running() {
		if !command.Preemptable(j, command.PreemptCheckpoint) {
			continue
		}
		asked[j.ID] = true
		all.Go(func() error {
			_, err := h.commit(calls, p.user, &command.CheckpointJob{Job: j.ID})
			switch pbs.CodeOf(err) {
			case pbs.NotSupported, pbs.BadState, pbs.HasFinished, pbs.UnknownJob: // it cannot be by now
				return nil
			}
			return err
		})
	}
	if err := all.Wait(); err != nil || len(asked) == 0 {
		return err
	}
	return h.awaitCheckpoints(ctx, asked)
}

func (h *Halt) awaitCheckpoints(ctx context.Context, asked map[pbs.JobID]bool) error {
	bounded, cancel := context.WithTimeout(ctx, checkpointWithin)
	defer cancel()
	for {
		changed := h.Replica.Changed()
		v, err := h.Replica.Read(bounded, cluster.Stale)
		if err != nil {
			return ctx.Err()
		}
		for id := range asked {
			if j, ok := v.Job(id); !ok || !j.LastRun().Checkpointing() {
				delete(asked, id)
			}
		}
		if len(asked) == 0 {
			return nil
		}
		select {
		case <-bounded.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
