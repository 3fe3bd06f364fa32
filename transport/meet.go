package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync"
)

// meetings are the open connections whose other end is known, so that Recheck can cut them.
type meetings struct {
	mu   sync.Mutex
	open map[*metConn]*x509.Certificate
}

// Recheck judges the other end of every open connection again, and closes those whose
// right to be here is gone (Check, Trust): streams, orders and Raft included.
func (id *Identity) Recheck() {
	var gone []*metConn
	id.met.mu.Lock()
	for c, cert := range id.met.open {
		if _, err := id.peer([]*x509.Certificate{cert}); err != nil {
			gone = append(gone, c)
		}
	}
	id.met.mu.Unlock()
	for _, c := range gone {
		_ = c.Close()
	}
}

// Over returns the network with connections that Recheck cuts. They become known to it with
// the handshakes of this package.
func (id *Identity) Over(network Network) Network { return overNetwork{network, id} }

type overNetwork struct {
	Network
	id *Identity
}

// Dial implements Network.
func (n overNetwork) Dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := n.Network.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return &metConn{Conn: c, id: n.id}, nil
}

// overListener gives the same to connections that others open.
type overListener struct {
	net.Listener
	id *Identity
}

// Accept implements net.Listener.
func (l overListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &metConn{Conn: c, id: l.id}, nil
}

// metConn is a connection below TLS. It is noted from its handshake on until it is closed.
type metConn struct {
	net.Conn
	id *Identity
}

// meets notes who is at the other end of a connection. It is judged once more after that: a
// Recheck in between has either seen the connection or done its work before.
func meets(c net.Conn, certs []*x509.Certificate) error {
	conn, ok := c.(*metConn)
	if !ok || len(certs) == 0 {
		return nil
	}
	peer, err := peerOf(certs[0])
	if err != nil {
		return err
	}
	m := &conn.id.met
	m.mu.Lock()
	if m.open == nil {
		m.open = make(map[*metConn]*x509.Certificate)
	}
	m.open[conn] = certs[0]
	m.mu.Unlock()
	return conn.id.check(peer)
}

// Close implements net.Conn.
func (c *metConn) Close() error {
	c.id.met.mu.Lock()
	delete(c.id.met.open, c)
	c.id.met.mu.Unlock()
	return c.Conn.Close()
}

// meeting returns a server's configuration in which each handshake notes its connection.
func meeting(config *tls.Config) *tls.Config {
	outer := config.Clone()
	outer.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		inner := config.Clone()
		inner.VerifyConnection = func(cs tls.ConnectionState) error {
			if err := config.VerifyConnection(cs); err != nil {
				return err
			}
			return meets(hello.Conn, cs.PeerCertificates)
		}
		return inner, nil
	}
	return outer
}
