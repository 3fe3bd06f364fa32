package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rampart/cluster/patience"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api/apiconnect"
)

// Proposer commits a proposal and returns its outcome.
type Proposer interface {
	Propose(ctx context.Context, p command.Proposal) (command.Outcome, error)
}

// Source is where the duties read the state.
type Source interface {
	View() *state.View
	// Changed returns a channel that is closed when a newer view is there.
	Changed() <-chan struct{}
}

// Moms gives the client of a mom by its address.
type Moms interface {
	Agent(address string) apiconnect.AgentClient
}

// Options of the duties.
type Options struct {
	Source   Source
	Proposer Proposer
	Moms     Moms
	Term     uint64 // under which orders are sent
	Meter    *Meter // nil: nobody counts
	Logger   *slog.Logger
	// Patience is how moms are outwaited before one is found down.
	Patience patience.Clock
}

// Dispatcher delivers open orders until each is confirmed.
type Dispatcher struct {
	opts Options

	mu      sync.Mutex
	workers map[pbs.HostName]*worker
	running sync.WaitGroup
}

const (
	// batch bounds the orders of one delivery, oldest first.
	batch = 128
	// attempt bounds one delivery.
	attempt = 10 * time.Second
	// A mom that cannot be reached is tried again after this, doubled each time.
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 10 * time.Second
	// linger is how long a worker without orders waits for more.
	linger = time.Minute
)

// New returns a dispatcher for one term of leadership.
func New(opts Options) *Dispatcher {
	if opts.Meter == nil {
		opts.Meter = NewMeter(nil)
	}
	return &Dispatcher{opts: opts, workers: map[pbs.HostName]*worker{}}
}

// Run delivers until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.running.Wait()
	for {
		changed := d.opts.Source.Changed()
		for host := range d.opts.Source.View().HostsWithOrders() {
			d.wake(ctx, host)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// wake tells the worker of a mom that there are orders, and hires one if needed.
func (d *Dispatcher) wake(ctx context.Context, host pbs.HostName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w, ok := d.workers[host]
	if !ok {
		w = &worker{opts: d.opts, host: host, orders: make(chan struct{}, 1)}
		d.workers[host] = w
		d.running.Go(func() { w.run(ctx, func() bool { return d.dismiss(w) }) })
	}
	select {
	case w.orders <- struct{}{}:
	default:
	}
}

// dismiss removes an idle worker, unless it was woken this moment.
func (d *Dispatcher) dismiss(w *worker) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(w.orders) > 0 {
		return false
	}
	delete(d.workers, w.host)
	return true
}
