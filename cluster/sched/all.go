package sched

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/state"
)

// RunAll runs a Loop for each scheduler that is started until ctx ends: the default one and those beside it, as they come and go.
// Those have turns, rounds and, from logOf, a log of their own; one that plans hinders no other.
func RunAll(ctx context.Context, opts Options, logOf func(sched string) Log) error {
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return New(opts).Run(ctx) })
	loops.Go(func() error {
		running := map[string]context.CancelFunc{}
		var seen *state.Server
		for {
			changed := opts.Source.Changed()
			if s := opts.Source.View().Server(); s != seen {
				seen = s
				follow(ctx, loops, running, s, opts, logOf)
			}
			select {
			case <-ctx.Done():
				for _, stop := range running {
					stop()
				}
				return nil
			case <-changed:
			}
		}
	})
	return loops.Wait()
}

// follow starts the loops of schedulers that were started, and ends those of others.
func follow(ctx context.Context, loops *errgroup.Group, running map[string]context.CancelFunc, s *state.Server, opts Options, logOf func(sched string) Log) {
	for name, stop := range running {
		if own, ok := s.Scheduler(name); !ok || !own.Started {
			stop()
			delete(running, name)
		}
	}
	for i := range s.Scheds {
		name := s.Scheds[i].Name
		if running[name] != nil || !s.Scheds[i].Started {
			continue
		}
		own, stop := context.WithCancel(ctx)
		running[name] = stop
		o := opts
		o.Name, o.Turns, o.Rounds, o.Log = name, opts.Turns.Of(name), opts.Rounds.Of(name), logOf(name)
		loops.Go(func() error { return New(o).Run(own) })
	}
}

// ofDefault tells whether a name is the default scheduler's.
func ofDefault(sched string) bool { return sched == "" || sched == state.DefaultScheduler }

// named is what each scheduler beside the default one has for itself.
type named[T any] struct {
	mu  sync.Mutex
	all map[string]*T
}

// of returns what one has, made when it is first asked for.
func (n *named[T]) of(sched string, fresh func() *T) *T {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all[sched] == nil {
		if n.all == nil {
			n.all = map[string]*T{}
		}
		n.all[sched] = fresh()
	}
	return n.all[sched]
}
