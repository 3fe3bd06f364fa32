package cluster

import (
	"context"
	"log/slog"
	"sync"
)

// work is the duties of a leader that are passed in.
type work struct {
	do      func(ctx context.Context, term uint64) error // nil: there are none
	machine Machine
	logger  *slog.Logger
}

// run does the duties of a term, and begins them anew when the epoch changes: what
// they remember is of a state that was replaced. It returns when they end by themselves, or
// when ctx ends.
func (w *work) run(ctx context.Context, term uint64) error {
	if w.do == nil {
		return nil
	}
	for {
		epoch := w.machine.View().Cluster().Epoch
		err := w.inEpoch(ctx, term, epoch)
		if err != nil || ctx.Err() != nil || w.machine.View().Cluster().Epoch == epoch {
			return err
		}
		w.logger.Warn("a new epoch has begun: the duties begin anew", "term", term)
	}
}

func (w *work) inEpoch(ctx context.Context, term, epoch uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		defer cancel()
		w.awaitEpoch(ctx, epoch)
	})
	return w.do(ctx, term)
}

// awaitEpoch returns when the state is of another epoch, or ctx ends.
func (w *work) awaitEpoch(ctx context.Context, epoch uint64) {
	for {
		changed := w.machine.Changed()
		if w.machine.View().Cluster().Epoch != epoch {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
