package transport

import (
	"net"
	"sync"
)

// raftListener hands over the connections of one ALPN protocol. It owns them:
// closing it closes them all.
type raftListener struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}

	mu     sync.Mutex
	closed bool
	open   map[*raftConn]struct{}
}

func newRaftListener(addr net.Addr) *raftListener {
	return &raftListener{addr: addr, conns: make(chan net.Conn), done: make(chan struct{}), open: map[*raftConn]struct{}{}}
}

// serve offers the connection to Accept and returns when it was closed, for
// net/http closes a connection when its protocol's function returns.
func (l *raftListener) serve(c net.Conn) {
	rc := &raftConn{Conn: c, done: make(chan struct{})}
	if !l.add(rc) {
		return
	}
	defer l.remove(rc)
	select {
	case l.conns <- rc:
		<-rc.done
	case <-rc.done: // the listener was closed
	}
}

func (l *raftListener) add(c *raftConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.open[c] = struct{}{}
	}
	return !l.closed
}

func (l *raftListener) remove(c *raftConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Accept implements net.Listener.
func (l *raftListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *raftListener) Close() error {
	l.mu.Lock()
	var open []*raftConn
	for c := range l.open {
		open = append(open, c)
	}
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	return nil
}

// Addr implements net.Listener.
func (l *raftListener) Addr() net.Addr { return l.addr }

type raftConn struct {
	net.Conn
	once sync.Once
	done chan struct{}
	err  error
}

// Close implements net.Conn.
func (c *raftConn) Close() error {
	c.once.Do(func() {
		c.err = c.Conn.Close()
		close(c.done)
	})
	return c.err
}
