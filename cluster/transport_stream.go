package cluster

import (
	"context"
	"errors"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// streamLayer gives Raft its connections and keeps track of them. Raft's own
// transport leaves accepted connections open when it is closed, and with them
// the goroutines that read from them.
type streamLayer struct {
	net.Listener
	advertise raftAddr
	dial      func(ctx context.Context, addr string) (net.Conn, error)
	ctx       context.Context // ends with Close
	stop      context.CancelFunc
	silence   *silence // in which nothing is dialed or accepted

	mu    sync.Mutex
	conns map[*layerConn]struct{} // nil when closed
}

var _ raft.StreamLayer = (*streamLayer)(nil)

type raftAddr string

func (raftAddr) Network() string  { return "tcp" }
func (a raftAddr) String() string { return string(a) }

func newStreamLayer(cfg *Config, s *silence) *streamLayer {
	ctx, stop := context.WithCancel(context.Background())
	return &streamLayer{
		Listener: cfg.Listener, advertise: raftAddr(cfg.Self.Address), dial: cfg.Dial,
		ctx: ctx, stop: stop, silence: s, conns: make(map[*layerConn]struct{}),
	}
}

// Addr returns the address at which the others reach us, which is not always
// the one we listen at.
func (l *streamLayer) Addr() net.Addr { return l.advertise }

// Accept returns the next connection from another replica.
func (l *streamLayer) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn, err = l.track(conn); !errors.Is(err, errSilent) {
			return conn, err
		}
	}
}

// Dial opens a connection to another replica.
func (l *streamLayer) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	if l.silence.kept() {
		return nil, errSilent
	}
	ctx, cancel := context.WithTimeout(l.ctx, timeout)
	defer cancel()
	conn, err := l.dial(ctx, string(addr))
	if err != nil {
		return nil, err
	}
	return l.track(conn)
}

// Close ends listening, dialing, and every connection.
func (l *streamLayer) Close() error {
	l.stop()
	err := l.Listener.Close()
	l.mu.Lock()
	open := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
	return err
}

// disconnect ends every connection. While the silence lasts, no other one is made.
func (l *streamLayer) disconnect() {
	l.mu.Lock()
	open := maps.Clone(l.conns)
	clear(l.conns)
	l.mu.Unlock()
	var wg sync.WaitGroup
	for c := range open {
		wg.Go(func() { _ = c.Conn.Close() }) // which says goodbye, if the other one listens
	}
	wg.Wait()
}

func (l *streamLayer) track(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if l.silence.kept() {
		_ = conn.Close()
		return nil, errSilent
	}
	c := &layerConn{Conn: conn, layer: l}
	l.conns[c] = struct{}{}
	return c, nil
}

type layerConn struct {
	net.Conn
	layer *streamLayer
}

func (c *layerConn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.conns, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}
