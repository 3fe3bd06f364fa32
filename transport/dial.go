package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

// Limits of one connection. A peer that says nothing for silence is pinged, and
// given up when it does not answer in time.
const (
	dialTimeout = 2 * time.Second
	silence     = 3 * time.Second
	pingTimeout = 3 * time.Second
	idleTimeout = 2 * time.Minute
)

// NewTransport returns the pooled HTTP/2 connections of a process to others,
// over TLS with the given configuration. Close its idle connections at the end.
func NewTransport(network Network, config *tls.Config) *http.Transport {
	t := &http.Transport{
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return dialTLS(ctx, network, address, config)
		},
		ForceAttemptHTTP2:  true,
		Protocols:          new(http.Protocols),
		HTTP2:              &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: pingTimeout},
		IdleConnTimeout:    idleTimeout,
		DisableCompression: true,
	}
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(true)
	return t
}

// Uncompressed lets a client take replies as they are. Connect would ask for gzip, which
// costs a replica more than the rest of a small request, and a cluster's network is not
// what is scarce.
func Uncompressed() connect.ClientOption { return connect.WithAcceptCompression("gzip", nil, nil) }

// dialTLS connects and shakes hands; any failure is a dialError.
func dialTLS(ctx context.Context, network Network, address string, config *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := network.Dial(ctx, address)
	if err != nil {
		return nil, &dialError{address, err}
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &dialError{address, err}
	}
	if err := meets(raw, conn.ConnectionState().PeerCertificates); err != nil {
		_ = raw.Close()
		return nil, &dialError{address, err}
	}
	return conn, nil
}

// RaftDialer returns the dial half of Raft's stream layer; Server.Raft is the
// listening half.
func (id *Identity) RaftDialer(network Network) func(ctx context.Context, address string) (net.Conn, error) {
	config, network := id.raftTLS(), id.Over(network)
	return func(ctx context.Context, address string) (net.Conn, error) {
		return dialTLS(ctx, network, address, config)
	}
}
