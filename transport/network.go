package transport

import (
	"context"
	"net"
	"time"
)

// A Network opens streams and packet sockets. System is the real one; a host of
// transport/memnet is one in memory.
type Network interface {
	// Listen accepts streams at HOST:PORT.
	Listen(ctx context.Context, address string) (net.Listener, error)
	// Dial opens a stream to HOST:PORT.
	Dial(ctx context.Context, address string) (net.Conn, error)
	// ListenPacket receives packets at HOST:PORT.
	ListenPacket(ctx context.Context, address string) (net.PacketConn, error)
}

// System is the network of the operating system: TCP and UDP.
type System struct{}

var _ Network = System{}

// keepAlive finds a dead peer of an idle stream within about fifteen seconds.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 2}

// Listen accepts TCP connections.
func (System) Listen(ctx context.Context, address string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	return lc.Listen(ctx, "tcp", address)
}

// Dial opens a TCP connection.
func (System) Dial(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	return dialNamed(ctx, names, address, func(ctx context.Context, address string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", address)
	})
}

// ListenPacket opens a UDP socket.
func (System) ListenPacket(ctx context.Context, address string) (net.PacketConn, error) {
	var lc net.ListenConfig
	return lc.ListenPacket(ctx, "udp", address)
}
