package memnet

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// firstPort is where ports begin that nobody asked for by number.
const firstPort = 40000

// backlog is how many streams wait to be accepted; one more is refused.
const backlog = 128

// A Host is one machine's end of the network. Addresses are HOST:PORT with the
// host's name or its IP; an empty or unspecified host is the machine itself.
type Host struct {
	net  *Net
	name string
	ip   netip.Addr

	mu        sync.Mutex
	nextPort  uint16
	listeners map[uint16]*listener
	packets   map[uint16]*packetConn
	streams   map[*stream]struct{}
	made      int // streams
}

func newHost(n *Net, name string, ip netip.Addr) *Host {
	return &Host{
		net: n, name: name, ip: ip, nextPort: firstPort,
		listeners: map[uint16]*listener{}, packets: map[uint16]*packetConn{}, streams: map[*stream]struct{}{},
	}
}

// Name returns the host's name.
func (h *Host) Name() string { return h.name }

// IP returns the host's address.
func (h *Host) IP() netip.Addr { return h.ip }

// Listen accepts streams at a port of this host; port 0 is any free one.
func (h *Host) Listen(_ context.Context, address string) (net.Listener, error) {
	port, err := h.ownPort(address)
	if err != nil {
		return nil, opError("listen", address, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if port == 0 {
		port = h.freePortLocked()
	}
	if h.listeners[port] != nil {
		return nil, opError("listen", address, syscall.EADDRINUSE)
	}
	l := &listener{host: h, port: port, queue: make(chan *stream, backlog), done: make(chan struct{})}
	h.listeners[port] = l
	return l, nil
}

// ListenPacket receives packets at a port of this host; port 0 is any free one.
func (h *Host) ListenPacket(_ context.Context, address string) (net.PacketConn, error) {
	port, err := h.ownPort(address)
	if err != nil {
		return nil, opError("listen", address, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if port == 0 {
		port = h.freePortLocked()
	}
	if h.packets[port] != nil {
		return nil, opError("listen", address, syscall.EADDRINUSE)
	}
	p := newPacketConn(h, port)
	h.packets[port] = p
	return p, nil
}

// Dial opens a stream. Over a cut link it waits until the context ends.
func (h *Host) Dial(ctx context.Context, address string) (net.Conn, error) {
	name, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, opError("dial", address, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, opError("dial", address, err)
	}
	to, err := h.net.lookup(name)
	if err != nil {
		return nil, opError("dial", address, err)
	}
	if err := h.reach(ctx, to); err != nil {
		return nil, opError("dial", address, err)
	}
	c, err := h.connect(to, uint16(port))
	if err != nil {
		return nil, opError("dial", address, err)
	}
	return c, nil
}

// reach waits until a packet has gone to the host and back.
func (h *Host) reach(ctx context.Context, to *Host) error {
	for _, l := range []*link{h.net.link(h.name, to.name), h.net.link(to.name, h.name)} {
		if err := l.pass(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) connect(to *Host, port uint16) (net.Conn, error) {
	to.mu.Lock()
	l := to.listeners[port]
	to.mu.Unlock()
	if l == nil {
		return nil, syscall.ECONNREFUSED
	}
	h.mu.Lock()
	local := h.freePortLocked()
	h.mu.Unlock()
	near, far := newStreams(h, local, to, port)
	h.keep(near)
	to.keep(far)
	if !l.offer(far) {
		near.abort(syscall.ECONNREFUSED)
		far.abort(syscall.ECONNREFUSED)
		return nil, syscall.ECONNREFUSED
	}
	return near, nil
}

// Crash ends the host's sockets as the death of its processes does: peers of its
// streams see a reset as soon as it reaches them, packets are lost. The host can
// be used again at once.
func (h *Host) Crash() {
	h.mu.Lock()
	var closers []func()
	for _, port := range slices.Sorted(maps.Keys(h.listeners)) {
		l := h.listeners[port]
		closers = append(closers, func() { _ = l.Close() })
	}
	for _, port := range slices.Sorted(maps.Keys(h.packets)) {
		p := h.packets[port]
		closers = append(closers, func() { _ = p.Close() })
	}
	for _, s := range slices.SortedFunc(maps.Keys(h.streams), func(a, b *stream) int { return cmp.Compare(a.number, b.number) }) {
		closers = append(closers, s.crash)
	}
	h.mu.Unlock()
	for _, c := range closers {
		c()
	}
}

func (h *Host) keep(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made++
	s.number = h.made
	h.streams[s] = struct{}{}
}

func (h *Host) forget(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

var errNotHere = errors.New("the address is another host's")

// ownPort reads the port of an address that must be this host's.
func (h *Host) ownPort(address string) (uint16, error) {
	name, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, err
	}
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		return uint16(port), nil
	}
	if to, err := h.net.lookup(name); err != nil || to != h {
		return 0, errNotHere
	}
	return uint16(port), nil
}

func (h *Host) freePortLocked() uint16 {
	for {
		h.nextPort++
		if h.nextPort < firstPort {
			h.nextPort = firstPort
		}
		if h.listeners[h.nextPort] == nil && h.packets[h.nextPort] == nil {
			return h.nextPort
		}
	}
}

func (h *Host) tcpAddr(port uint16) net.Addr {
	return &net.TCPAddr{IP: h.ip.AsSlice(), Port: int(port)}
}

func (h *Host) udpAddr(port uint16) net.Addr {
	return &net.UDPAddr{IP: h.ip.AsSlice(), Port: int(port)}
}
