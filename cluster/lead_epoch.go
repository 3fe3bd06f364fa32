package cluster

import (
	"context"
	"sync"
)

// workByEpoch does the duties of a term, and begins them anew when the epoch changes: what
// they remember is of a state that was replaced. It returns when they end by themselves, or
// when ctx ends.
func (r *Replica) workByEpoch(ctx context.Context, term uint64) error {
	for {
		epoch := r.cfg.Machine.View().Cluster().Epoch
		err := r.workInEpoch(ctx, term, epoch)
		if err != nil || ctx.Err() != nil || r.cfg.Machine.View().Cluster().Epoch == epoch {
			return err
		}
		r.cfg.Logger.Warn("a new epoch has begun: the duties begin anew", "term", term)
	}
}

func (r *Replica) workInEpoch(ctx context.Context, term, epoch uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		defer cancel()
		r.awaitEpoch(ctx, epoch)
	})
	return r.cfg.Work(ctx, term)
}

// awaitEpoch returns when the state is of another epoch, or ctx ends.
func (r *Replica) awaitEpoch(ctx context.Context, epoch uint64) {
	for {
		changed := r.cfg.Machine.Changed()
		if r.cfg.Machine.View().Cluster().Epoch != epoch {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
