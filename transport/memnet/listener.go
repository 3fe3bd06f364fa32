package memnet

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"
)

// pass waits until one packet has gone over the link, or ctx ends.
func (l *link) pass(ctx context.Context) error {
	for {
		state, changed := l.get()
		var arrived <-chan time.Time
		if !state.cut {
			if state.delay == 0 {
				return ctx.Err()
			}
			arrived = time.After(time.Until(l.arrival(state.delay)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-arrived:
			return nil
		case <-changed:
		}
	}
}

type listener struct {
	host  *Host
	port  uint16
	queue chan *stream

	mu     sync.Mutex
	closed bool
	done   chan struct{}
}

// offer queues a stream; it is false when nobody will accept it.
func (l *listener) offer(s *stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	select {
	case l.queue <- s:
		return true
	default:
		return false
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.done:
		return nil, opError("accept", l.Addr().String(), net.ErrClosed)
	case s := <-l.queue:
		return s, nil
	}
}

// Close implements net.Listener. Streams that nobody accepted are reset.
func (l *listener) Close() error {
	l.host.mu.Lock()
	if l.host.listeners[l.port] == l {
		delete(l.host.listeners, l.port)
	}
	l.host.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	close(l.done)
	for {
		select {
		case s := <-l.queue:
			s.crash()
		default:
			return nil
		}
	}
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.host.tcpAddr(l.port) }

// errReset is what a stream's end sees after the other's process has died.
const errReset = syscall.ECONNRESET
