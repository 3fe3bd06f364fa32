// Package gossip tells who is there: replicas and moms, by memberlist, as a
// channel of Joined, Gone and Rebooted. What it tells is a hint (L13): it sets
// suspicion, and others confirm. It does not tell that a member leaves on
// purpose; that is said to the leader directly.
//
// Open starts nothing. Run starts everything; when it returns, only probes of
// memberlist may still be under way, which nobody can hurry: they end by
// themselves within Linger. All methods may be called from any goroutine.
package gossip

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// The LAN profile with these: a dead host is noticed in about four seconds, and
// a process that was stopped for five is declared gone.
const (
	probeInterval           = 500 * time.Millisecond
	probeTimeout            = 250 * time.Millisecond
	suspicionMult           = 3
	suspicionMaxTimeoutMult = 3
	gossipInterval          = 100 * time.Millisecond
	apart                   = 997 * time.Nanosecond // keeps their ticks off one moment, of which a bubble draws the order
	// reclaimAfter lets a host come back under its name with another address.
	reclaimAfter = 10 * time.Second
	// rejoinEvery is how often seeds that are not members are asked again, so
	// that two halves that forgot each other find together.
	rejoinEvery = 5 * time.Second
)

// Linger is how long after Run a probe may last: the probe interval, stretched as
// far as memberlist does when it doubts its own health. A bubble lets this much
// time pass before it ends; a process need not.
const Linger = 10 * probeInterval

// Config says who we are and how to reach the others.
type Config struct {
	Name      string // of the host, unique among those of its role
	Transport *Transport
	Key       []byte   // primary encryption key: 16, 24 or 32 bytes
	OldKeys   [][]byte // still understood
	Meta      Meta
	Seeds     func() []string // addresses of members to join and to join again, as known now
	// Factor stretches all times, for members that are far from each other; 0: 1.
	Factor int
	Logger *slog.Logger
}

// Gossip is one member. Open makes it.
type Gossip struct {
	cfg    Config
	ring   *memberlist.Keyring
	events *events
	self   *delegate
	tell   chan struct{} // our metadata has changed

	mu   sync.Mutex
	list *memberlist.Memberlist // nil unless running
}

// Open checks the configuration and prepares a member; Run makes it one.
func Open(cfg Config) (*Gossip, error) {
	if _, err := cfg.Meta.encode(); err != nil {
		return nil, fmt.Errorf("open gossip of %s: %w", cfg.Name, err)
	}
	ring, err := memberlist.NewKeyring(cfg.OldKeys, cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("open gossip of %s: key ring: %w", cfg.Name, err)
	}
	return &Gossip{
		cfg: cfg, ring: ring, events: newEvents(MemberName(cfg.Meta.Role, cfg.Name)), self: &delegate{meta: cfg.Meta}, tell: make(chan struct{}, 1),
	}, nil
}

// Events returns what happened to the other members. A reader that is slow gets
// the latest about each member, not every step. The channel is closed when Run
// returns.
func (g *Gossip) Events() <-chan Event { return g.events.out }

// Run gossips until ctx ends.
func (g *Gossip) Run(ctx context.Context) error {
	defer close(g.events.out)
	if err := g.cfg.Transport.open(ctx); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	list, err := memberlist.Create(g.memberlistConfig())
	if err != nil {
		_ = g.cfg.Transport.Shutdown()
		return fmt.Errorf("gossip: %w", err)
	}
	g.setList(list)
	defer g.setList(nil)

	var wg sync.WaitGroup
	wg.Go(func() { g.events.pump(ctx) })
	wg.Go(func() { g.rejoin(ctx, list) })
	wg.Go(func() { g.keepTelling(ctx, list) })
	<-ctx.Done()
	err = list.Shutdown()
	wg.Wait()
	if err != nil {
		return fmt.Errorf("stop gossip: %w", err)
	}
	return nil
}

func (g *Gossip) memberlistConfig() *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name = MemberName(g.cfg.Meta.Role, g.cfg.Name)
	c.Transport = g.cfg.Transport
	far := func(d time.Duration) time.Duration { return d * time.Duration(max(1, g.cfg.Factor)) }
	c.ProbeInterval, c.ProbeTimeout = far(probeInterval)+apart, far(probeTimeout)
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = suspicionMult, suspicionMaxTimeoutMult
	c.GossipInterval = far(gossipInterval) + 2*apart
	c.EnableCompression = false // the packets are smaller than the tables it would build for each
	c.DeadNodeReclaimTime = reclaimAfter
	c.MsgpackUseNewTimeFormat = true
	c.Keyring = g.ring
	c.Delegate = g.self
	c.Events = g.events
	c.Logger = log.New(logWriter{g.cfg.Logger}, "", 0)
	return c
}

// rejoin asks every seed that is not a member, now and then.
func (g *Gossip) rejoin(ctx context.Context, list *memberlist.Memberlist) {
	tick := time.NewTicker(rejoinEvery)
	defer tick.Stop()
	for {
		if seeds := g.missing(); len(seeds) > 0 {
			if _, err := list.Join(seeds); err != nil && ctx.Err() == nil {
				g.cfg.Logger.Debug("gossip: no seed answers", "seeds", seeds, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (g *Gossip) missing() []string {
	if g.cfg.Seeds == nil {
		return nil
	}
	present := make(map[string]bool)
	for _, m := range g.events.members() {
		present[m.Address] = true
	}
	return slices.DeleteFunc(slices.Clone(g.cfg.Seeds()), func(addr string) bool { return present[addr] })
}

// A Member is one that gossip believes to be there.
type Member struct {
	Name    string
	Address string
	Meta    Meta
}

// Members lists those believed to be there, by name, ourselves included;
// nothing unless running.
func (g *Gossip) Members() []Member {
	if g.getList() == nil {
		return nil
	}
	all := g.events.members()
	slices.SortFunc(all, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Hold makes the first of the keys the one that we encrypt with, understands the others as
// well, and forgets all else. The generation of the keys is told to the other members.
func (g *Gossip) Hold(generation uint64, keys [][]byte) error {
	if len(keys) == 0 {
		return errors.New("set gossip key: there is none")
	}
	if err := g.SetKeys(keys[0], keys[1:]...); err != nil {
		return err
	}
	if g.self.hold(generation) {
		select {
		case g.tell <- struct{}{}:
		default:
		}
	}
	return nil
}

// tellWithin bounds the wait for news of ourselves to be on its way.
const tellWithin = time.Second

// keepTelling spreads our metadata when it has changed.
func (g *Gossip) keepTelling(ctx context.Context, list *memberlist.Memberlist) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.tell:
		}
		if err := list.UpdateNode(tellWithin); err != nil && ctx.Err() == nil {
			g.cfg.Logger.Debug("gossip: tell what has changed of us", "err", err)
		}
	}
}

// SetKeys makes primary the key that we encrypt with, understands old ones as
// well, and forgets all others.
func (g *Gossip) SetKeys(primary []byte, old ...[]byte) error {
	if err := g.ring.AddKey(primary); err != nil {
		return fmt.Errorf("set gossip key: %w", err)
	}
	if err := g.ring.UseKey(primary); err != nil {
		return fmt.Errorf("set gossip key: %w", err)
	}
	for _, k := range old {
		if err := g.ring.AddKey(k); err != nil {
			return fmt.Errorf("keep old gossip key: %w", err)
		}
	}
	keep := append([][]byte{primary}, old...)
	for _, k := range slices.Clone(g.ring.GetKeys()) {
		if !slices.ContainsFunc(keep, func(o []byte) bool { return slices.Equal(k, o) }) {
			if err := g.ring.RemoveKey(k); err != nil {
				return fmt.Errorf("forget gossip key: %w", err)
			}
		}
	}
	return nil
}

func (g *Gossip) getList() *memberlist.Memberlist {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}

func (g *Gossip) setList(list *memberlist.Memberlist) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = list
}
