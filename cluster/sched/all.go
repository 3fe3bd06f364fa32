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
		f := further{opts: opts, logOf: logOf, running: map[string]*running{}, ended: make(chan struct{}, 1)}
		var seen *state.Server
		for {
			changed := opts.Source.Changed()
			if s := opts.Source.View().Server(); s != seen {
				seen = s
				f.follow(ctx, loops, s)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-f.ended:
				seen = nil
			case <-changed:
			}
		}
	})
	return loops.Wait()
}

// further are the loops of schedulers beside the default one.
type further struct {
	opts    Options
	logOf   func(sched string) Log
	running map[string]*running
	ended   chan struct{} // one of them has ended
}

type running struct {
	stop context.CancelFunc
	over chan struct{}
}

// follow starts the loops of schedulers that were started, and ends those of others. One that was started again begins when its last
// loop is over.
func (f *further) follow(ctx context.Context, loops *errgroup.Group, s *state.Server) {
	for name, l := range f.running {
		select {
		case <-l.over:
			delete(f.running, name)
			continue
		default:
		}
		if own, ok := s.Scheduler(name); !ok || !own.Started {
			l.stop()
		}
	}
	for i := range s.Scheds {
		name := s.Scheds[i].Name
		if f.running[name] != nil || !s.Scheds[i].Started {
			continue
		}
		own, stop := context.WithCancel(ctx)
		l := &running{stop, make(chan struct{})}
		f.running[name] = l
		o := f.opts
		o.Name, o.Turns, o.Rounds, o.Log = name, f.opts.Turns.Of(name), f.opts.Rounds.Of(name), f.logOf(name)
		loops.Go(func() error {
			defer stop()
			err := New(o).Run(own)
			close(l.over)
			select {
			case f.ended <- struct{}{}:
			default:
			}
			return err
		})
	}
}

// ofDefault reports whether a name is the default scheduler's.
func ofDefault(sched string) bool { return sched == "" || sched == state.DefaultScheduler }

// named holds a value for each scheduler beside the default one.
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
