package gossip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Network opens the two listeners that gossip needs and its connections.
type Network interface {
	Listen(ctx context.Context, addr string) (net.Listener, error)
	ListenPacket(ctx context.Context, addr string) (net.PacketConn, error)
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

const packetSize = 65536

var _ memberlist.NodeAwareTransport = (*Transport)(nil)

// Transport carries gossip over a Network: packets and streams on one port.
// NewTransport starts nothing; Gossip.Run opens it and Shutdown ends all that it
// started, streams that memberlist still uses included.
type Transport struct {
	network   Network
	bind      string
	advertise netip.AddrPort

	packets chan *memberlist.Packet
	streams chan net.Conn

	stop     context.CancelFunc
	ctx      context.Context // from open to Shutdown
	packet   net.PacketConn
	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil after Shutdown
}

// NewTransport returns a transport that listens at bind and tells others to
// reach it at advertise (an IP address and a port; memberlist spreads no names).
// If bind is empty, it listens at advertise.
func NewTransport(network Network, bind, advertise string) (*Transport, error) {
	at, err := netip.ParseAddrPort(advertise)
	if err != nil {
		return nil, fmt.Errorf("gossip address %q: %w", advertise, err)
	}
	if at.Addr().IsUnspecified() || at.Port() == 0 {
		return nil, fmt.Errorf("gossip address %q: cannot be advertised", advertise)
	}
	if bind == "" {
		bind = advertise
	}
	return &Transport{
		network: network, bind: bind, advertise: at,
		packets: make(chan *memberlist.Packet), streams: make(chan net.Conn),
	}, nil
}

func (t *Transport) open(ctx context.Context) error {
	packet, err := t.network.ListenPacket(ctx, t.bind)
	if err != nil {
		return fmt.Errorf("listen for packets: %w", err)
	}
	listener, err := t.network.Listen(ctx, t.bind)
	if err != nil {
		return fmt.Errorf("listen for streams: %w", errors.Join(err, packet.Close()))
	}
	t.packet, t.listener = packet, listener
	t.conns = make(map[net.Conn]struct{})
	t.ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	t.wg.Go(t.receive)
	t.wg.Go(t.accept)
	return nil
}

func (t *Transport) receive() {
	buf := make([]byte, packetSize)
	for {
		n, from, err := t.packet.ReadFrom(buf)
		now := time.Now()
		if err != nil {
			if !t.pause() {
				return
			}
			continue
		}
		if n == 0 {
			continue
		}
		select {
		case t.packets <- &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: now}:
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *Transport) accept() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			if !t.pause() {
				return
			}
			continue
		}
		if conn = t.track(conn); conn == nil {
			return
		}
		select {
		case t.streams <- conn:
		case <-t.ctx.Done():
			return
		}
	}
}

// pause waits a moment after an error and reports whether to go on.
func (t *Transport) pause() bool {
	select {
	case <-t.ctx.Done():
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.advertise.Addr().AsSlice(), int(t.advertise.Port()), nil
}

// WriteTo implements memberlist.Transport.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("send packet: %w", err)
	}
	_, err = t.packet.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return time.Now(), err
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (t *Transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// PacketCh implements memberlist.Transport.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh implements memberlist.Transport.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streams }

// DialTimeout implements memberlist.Transport.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	conn, err := t.network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	if conn = t.track(conn); conn == nil {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *Transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

// Shutdown ends all that open started and closes every stream. memberlist
// reads streams with ten seconds of patience; closing them ends it at once.
func (t *Transport) Shutdown() error {
	t.stop()
	err := errors.Join(t.packet.Close(), t.listener.Close())
	t.mu.Lock()
	open := t.conns
	t.conns = nil
	t.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
	t.wg.Wait()
	return err
}

// track keeps conn until it is closed; nil when the transport is shut down.
func (t *Transport) track(conn net.Conn) net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns == nil {
		_ = conn.Close()
		return nil
	}
	tracked := &trackedConn{Conn: conn, owner: t}
	t.conns[tracked] = struct{}{}
	return tracked
}

type trackedConn struct {
	net.Conn
	owner *Transport
}

// Close closes the stream and forgets it.
func (c *trackedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
