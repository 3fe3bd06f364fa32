package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/pause"
)

// Watcher finds out which moms are silent. Leases and gossip make it suspicious,
// its own call confirms, and a commit makes the verdict; the verdict changes
// vnodes and never requeues a job (L13). That is for the fence: when a host that is
// down has been silent for so long that its jobs have ended themselves, they are given
// up (L2).
type Watcher struct {
	opts Options

	mu       sync.Mutex
	renewed  map[pbs.HostName]time.Time // last lease that this leader answered
	suspects map[pbs.HostName]string    // why they are to be called
	judged   map[pbs.HostName]bool      // those being called or given up
	began    time.Time                  // the term, for us
	wake     chan struct{}
	calls    chan struct{} // bounds the calls under way
}

const (
	// grace is how long after the start of a term no mom is declared lost, and how
	// long a mom may be silent before it is called.
	grace = 10 * time.Second
	// lease is how often moms renew.
	lease = 5 * time.Second
	// leaseSlack is how late a renewal may come.
	leaseSlack = 500 * time.Millisecond
	// pingFor bounds one call; a mom gets pings of them before the verdict.
	pingFor = time.Second
	pings   = 2
	// atOnce bounds the calls under way: a rack that goes dark is many moms.
	atOnce = 64
)

// NewWatcher returns a watcher for one term of leadership.
func NewWatcher(opts Options) *Watcher {
	return &Watcher{
		opts: opts, renewed: map[pbs.HostName]time.Time{}, suspects: map[pbs.HostName]string{},
		judged: map[pbs.HostName]bool{}, wake: make(chan struct{}, 1), calls: make(chan struct{}, atOnce),
	}
}

// Renewed notes a lease that was answered.
func (w *Watcher) Renewed(host pbs.HostName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renewed[host] = time.Now()
}

// Suspect asks for a call to a mom that gossip says is gone.
func (w *Watcher) Suspect(host pbs.HostName, why string) {
	w.mu.Lock()
	w.suspects[host] = why
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	var calls sync.WaitGroup
	defer calls.Wait()
	w.mu.Lock()
	w.began = time.Now()
	w.mu.Unlock()
	calls.Go(func() { w.shorten(ctx) })
	if !pause.For(ctx, grace) {
		return nil
	}
	tick := time.NewTicker(lease)
	defer tick.Stop()
	for {
		for _, verdict := range w.verdicts() {
			select {
			case <-ctx.Done():
				return nil
			case w.calls <- struct{}{}:
			}
			calls.Go(func() {
				defer func() { <-w.calls }()
				verdict(ctx)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-w.wake:
		}
	}
}

// shorten has moms renew at once when node_fail_requeue gets shorter: until a mom has said that it holds the
// shorter fence, the longer one counts. A mom that is not reached renews in its own time.
func (w *Watcher) shorten(ctx context.Context) {
	var calls sync.WaitGroup
	defer calls.Wait()
	seen := w.opts.Source.View().Server().FenceChanged
	for {
		changed := w.opts.Source.Changed()
		v := w.opts.Source.View()
		if s := v.Server(); s.FenceChanged != seen {
			seen = s.FenceChanged
			for h := range v.Hosts() {
				if !h.Up || h.Fence == s.Fence() {
					continue
				}
				select {
				case <-ctx.Done():
					return
				case w.calls <- struct{}{}:
				}
				calls.Go(func() {
					defer func() { <-w.calls }()
					_ = w.ping(ctx, h.Address, h.Name)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// verdicts returns what is to be found out or decided now.
func (w *Watcher) verdicts() []func(context.Context) {
	v := w.opts.Source.View()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []func(context.Context)
	for h := range v.Hosts() {
		if w.judged[h.Name] {
			continue
		}
		var verdict func(context.Context)
		if why := w.silentLocked(h); why != "" {
			verdict = func(ctx context.Context) { w.judge(ctx, h.Name, why) }
		} else if w.fencedLocked(h) {
			verdict = func(ctx context.Context) { w.giveUp(ctx, h) }
		} else if w.strangeLocked(v, h) {
			verdict = func(ctx context.Context) { w.disown(ctx, h.Name) }
		} else {
			continue
		}
		w.judged[h.Name] = true
		all = append(all, func(ctx context.Context) {
			defer w.acquit(h.Name)
			verdict(ctx)
		})
	}
	clear(w.suspects)
	return all
}

// silentLocked tells why a mom is to be called, "" if it is not.
func (w *Watcher) silentLocked(h *state.Host) string {
	if !h.Up {
		return ""
	}
	if why, ok := w.suspects[h.Name]; ok {
		return why
	}
	if d := w.silenceLocked(h.Name); d > grace {
		return fmt.Sprintf("no lease for %s", d.Round(time.Second))
	}
	return ""
}

// strangeLocked reports whether a mom has been down since an earlier leader, this one has not heard of it for as long as it
// would wait for one that is up, and its vnodes do not say so yet.
func (w *Watcher) strangeLocked(v *state.View, h *state.Host) bool {
	if h.Up || time.Since(w.began) <= grace || w.renewed[h.Name].After(w.began) {
		return false
	}
	for n := range v.VnodesOf(h.Name) {
		if n.Flags&(state.VnodeDown|state.VnodeUnknown) == state.VnodeDown {
			return true
		}
	}
	return false
}

// disown proposes that nothing is known of a mom that is down (specification: ramp-down section 10).
func (w *Watcher) disown(ctx context.Context, host pbs.HostName) {
	if err := w.propose(ctx, &command.HostDown{Host: host, Unheard: true}); err != nil {
		w.opts.Logger.Warn("propose that nothing is known of a host", "host", string(host), "error", err)
	}
}

// silenceLocked returns how long ago this leader answered the last renewal of a mom. What
// earlier leaders have answered was sent before our term began.
func (w *Watcher) silenceLocked(host pbs.HostName) time.Duration {
	last := w.began
	if renewed := w.renewed[host]; renewed.After(last) {
		last = renewed
	}
	return time.Since(last)
}

// heard reports whether this leader has answered a renewal of a mom in its term.
func (w *Watcher) heard(host pbs.HostName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.renewed[host].After(w.began)
}

// judge calls a mom and proposes that it is down if it does not answer.
func (w *Watcher) judge(ctx context.Context, host pbs.HostName, why string) {
	h, ok := w.opts.Source.View().Host(host)
	if !ok || !h.Up {
		return
	}
	err := w.confirm(ctx, h)
	if err == nil {
		return
	}
	log := w.opts.Logger.With(slog.String("host", string(host)), slog.String("why", why))
	log.Warn("a mom does not answer", "error", err)
	if err := w.propose(ctx, &command.HostDown{Host: host, Reason: why, Unheard: !w.heard(host)}); err != nil {
		log.Warn("propose that a host is down", "error", err)
	}
}

// confirm returns why a mom counts as down, nil if it lives or the term is over. It waits in time in
// which this process runs: what a mom has answered may lie in its sockets, unread.
func (w *Watcher) confirm(ctx context.Context, h *state.Host) (err error) {
	asked := time.Now()
	for range pings {
		if err = w.ping(ctx, h.Address, h.Name); err == nil {
			return nil
		}
	}
	// A mom that renews through another replica lives, though we cannot reach it:
	// it gets the time for one more renewal.
	if !w.opts.Patience.Sleep(ctx, time.Until(w.lastRenewal(h.Name).Add(lease+leaseSlack))) || !w.lastRenewal(h.Name).Before(asked) {
		return nil
	}
	return err
}

func (w *Watcher) propose(ctx context.Context, c command.Command) error {
	out, err := w.opts.Proposer.Propose(ctx, command.Proposal{Commands: []command.Command{c}})
	if err != nil {
		return err
	}
	return out.Err()
}

func (w *Watcher) lastRenewal(host pbs.HostName) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.renewed[host]
}

func (w *Watcher) acquit(host pbs.HostName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.judged, host)
}

func (w *Watcher) ping(ctx context.Context, address string, host pbs.HostName) error {
	ctx, cancel := w.opts.Patience.WithTimeout(ctx, pingFor)
	defer cancel()
	reply, err := w.opts.Moms.Agent(address).Ping(ctx, connect.NewRequest(&api.PingRequest{}))
	if err != nil {
		return err
	}
	if got := reply.Msg.GetHost(); got != string(host) {
		return fmt.Errorf("%s answers as %s", address, got)
	}
	return nil
}
