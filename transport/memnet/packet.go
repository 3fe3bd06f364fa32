package memnet

import (
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// queued is how many packets wait to be read; one more is lost, else
	// memberlist, which reads and writes in turn, would wait for itself.
	queued    = 1024
	maxPacket = 65507
)

type packet struct {
	data []byte
	from net.Addr
}

type packetConn struct {
	host        *Host
	port        uint16
	queue       chan packet
	read, write *deadline

	once sync.Once
	done chan struct{}
}

func newPacketConn(h *Host, port uint16) *packetConn {
	return &packetConn{
		host: h, port: port, queue: make(chan packet, queued),
		read: newDeadline(h.net.taken), write: newDeadline(h.net.taken), done: make(chan struct{}),
	}
}

// ReadFrom implements net.PacketConn.
func (p *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	over := p.read.done()
	if isClosed(p.done) {
		return 0, nil, net.ErrClosed
	}
	if isClosed(over) {
		return 0, nil, os.ErrDeadlineExceeded
	}
	select {
	case <-p.done:
		return 0, nil, net.ErrClosed
	case <-over:
		return 0, nil, os.ErrDeadlineExceeded
	case m := <-p.queue:
		return copy(b, m.data), m.from, nil
	}
}

// WriteTo implements net.PacketConn. It never waits; nobody learns of a loss.
func (p *packetConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if isClosed(p.done) {
		return 0, net.ErrClosed
	}
	if len(b) > maxPacket {
		return 0, opError("write", to.String(), os.ErrInvalid)
	}
	name, port, err := splitAddr(to)
	if err != nil {
		return 0, opError("write", to.String(), err)
	}
	host, err := p.host.net.lookup(name)
	if err != nil {
		return 0, opError("write", to.String(), err)
	}
	over := p.host.net.link(p.host.name, host.name)
	state, _ := over.get()
	if state.cut || p.host.net.lost(state.drop) {
		return len(b), nil
	}
	m := packet{append([]byte(nil), b...), p.LocalAddr()}
	if state.delay == 0 {
		host.deliver(port, m)
	} else {
		time.AfterFunc(time.Until(over.arrival(state.delay)), func() { host.deliver(port, m) })
	}
	return len(b), nil
}

// deliver queues a packet at its receiver, if there is one with room.
func (h *Host) deliver(port uint16, m packet) {
	h.mu.Lock()
	p := h.packets[port]
	h.mu.Unlock()
	if p == nil {
		return
	}
	select {
	case p.queue <- m:
	default:
	}
}

func splitAddr(a net.Addr) (host string, port uint16, err error) {
	name, text, err := net.SplitHostPort(a.String())
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return name, uint16(n), err
}

// Close implements net.PacketConn.
func (p *packetConn) Close() error {
	p.once.Do(func() {
		close(p.done)
		p.read.stop()
		p.write.stop()
		p.host.mu.Lock()
		defer p.host.mu.Unlock()
		if p.host.packets[p.port] == p {
			delete(p.host.packets, p.port)
		}
	})
	return nil
}

// LocalAddr implements net.PacketConn.
func (p *packetConn) LocalAddr() net.Addr { return p.host.udpAddr(p.port) }

// SetDeadline implements net.PacketConn.
func (p *packetConn) SetDeadline(t time.Time) error {
	p.read.set(t)
	p.write.set(t)
	return nil
}

// SetReadDeadline implements net.PacketConn.
func (p *packetConn) SetReadDeadline(t time.Time) error {
	p.read.set(t)
	return nil
}

// SetWriteDeadline implements net.PacketConn.
func (p *packetConn) SetWriteDeadline(t time.Time) error {
	p.write.set(t)
	return nil
}
