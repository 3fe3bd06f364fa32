package memnet

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A Net is a set of hosts, all connected until faults are set.
type Net struct {
	mu    sync.Mutex
	rand  *rand.Rand
	hosts map[string]*Host
	byIP  map[netip.Addr]*Host
	links map[pair]*link
	taken *moments // nil: several things may arrive at the same one
}

// pair names one direction of a link by the hosts' names.
type pair struct{ from, to string }

// New returns a network without hosts. The seed decides which packets a lossy
// link loses.
func New(seed uint64) *Net {
	return &Net{
		rand:  rand.New(rand.NewPCG(seed, seed)),
		hosts: map[string]*Host{}, byIP: map[netip.Addr]*Host{}, links: map[pair]*link{},
	}
}

// Host returns the host of that name, made at the first call with an address of
// its own (10.x.x.x).
func (n *Net) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, ok := n.hosts[name]; ok {
		return h
	}
	i := len(n.hosts) + 1
	h := newHost(n, name, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
	n.hosts[name], n.byIP[h.ip] = h, h
	return h
}

// lookup finds a host by name or address.
func (n *Net) lookup(name string) (*Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, ok := n.hosts[name]; ok {
		return h, nil
	}
	if ip, err := netip.ParseAddr(name); err == nil && n.byIP[ip.Unmap()] != nil {
		return n.byIP[ip.Unmap()], nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// link returns one direction of a link.
func (n *Net) link(from, to string) *link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.linkLocked(pair{from, to})
}

func (n *Net) linkLocked(p pair) *link {
	l, ok := n.links[p]
	if !ok {
		l = &link{taken: n.taken, changed: make(chan struct{})}
		n.links[p] = l
	}
	return l
}

// Cut silences the link between two hosts.
func (n *Net) Cut(a, b string) {
	n.CutOneWay(a, b)
	n.CutOneWay(b, a)
}

// CutOneWay silences what goes from one host to another, and not its answers.
func (n *Net) CutOneWay(from, to string) {
	n.link(from, to).set(func(l *linkState) { l.cut = true })
}

// Delay makes everything between two hosts take that long each way.
func (n *Net) Delay(a, b string, d time.Duration) {
	for _, l := range []*link{n.link(a, b), n.link(b, a)} {
		l.set(func(l *linkState) { l.delay = d })
	}
}

// Drop loses that share (0 to 1) of the packets between two hosts.
func (n *Net) Drop(a, b string, share float64) {
	for _, l := range []*link{n.link(a, b), n.link(b, a)} {
		l.set(func(l *linkState) { l.drop = share })
	}
}

// Heal takes every fault off the link between two hosts.
func (n *Net) Heal(a, b string) {
	for _, l := range []*link{n.link(a, b), n.link(b, a)} {
		l.set(func(l *linkState) { *l = linkState{} })
	}
}

// HealAll takes every fault off every link.
func (n *Net) HealAll() {
	n.mu.Lock()
	var all []*link
	for _, l := range n.links {
		all = append(all, l)
	}
	n.mu.Unlock()
	for _, l := range all {
		l.set(func(l *linkState) { *l = linkState{} })
	}
}

// lost draws whether a packet on a link with that share of losses is one.
func (n *Net) lost(share float64) bool {
	if share == 0 {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rand.Float64() < share
}

// A link is one direction between two hosts.
type link struct {
	mu      sync.Mutex
	state   linkState
	changed chan struct{} // closed and replaced when the state changes
	taken   *moments      // of the net
}

// arrival is when something arrives that is sent now.
func (l *link) arrival(delay time.Duration) time.Time {
	if l.taken == nil {
		return time.Now().Add(delay)
	}
	return l.taken.take(time.Now(), delay)
}

type linkState struct {
	cut   bool
	delay time.Duration
	drop  float64
}

func (l *link) set(change func(*linkState)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
	close(l.changed)
	l.changed = make(chan struct{})
}

// get returns the state and a channel that is closed when it changes.
func (l *link) get() (linkState, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.changed
}

// opError makes an error of the form that package net gives.
func opError(op, address string, err error) error {
	return fmt.Errorf("%s %s: %w", op, address, err)
}
