package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	maxHeader     = 64 << 10
	maxStreams    = 1000
)

// ServerConfig is what a Server needs.
type ServerConfig struct {
	Network  Network
	Address  string // HOST:PORT
	Identity *Identity
	Handler  http.Handler
	// Raft opens the port to the Raft protocol of other replicas.
	Raft   bool
	Logger *slog.Logger
}

// A Server is the one TLS port of a process. API and Raft are told apart by
// ALPN: h2 and http/1.1 go to the handler, rampart-raft/1 to the listener that
// Raft returns.
type Server struct {
	config   ServerConfig
	listener net.Listener
	raft     *raftListener
	http     *http.Server
}

// NewServer opens the port, so that Addr and Raft can be used; nothing is
// accepted before Run.
func NewServer(ctx context.Context, config ServerConfig) (*Server, error) {
	ln, err := config.Network.Listen(ctx, config.Address)
	if err != nil {
		return nil, fmt.Errorf("open port %s: %w", config.Address, err)
	}
	s := &Server{config: config, listener: overListener{ln, config.Identity}}
	tlsConfig := config.Identity.ServerTLS()
	if config.Raft {
		tlsConfig.NextProtos = append(tlsConfig.NextProtos, protoRaft)
	}
	s.http = &http.Server{
		Handler:           config.Handler,
		TLSConfig:         meeting(tlsConfig),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		Protocols:         new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
	}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetHTTP2(true)
	if config.Raft {
		s.raft = newRaftListener(ln.Addr())
		s.http.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
			protoRaft: func(_ *http.Server, c *tls.Conn, _ http.Handler) { s.raft.serve(c) },
		}
	}
	return s, nil
}

// Addr returns the address of the port.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Raft returns the listener that Raft's stream layer accepts from, nil unless
// the configuration asked for it. Its connections end with the server.
func (s *Server) Raft() net.Listener {
	if s.raft == nil {
		return nil
	}
	return s.raft
}

// Run serves until ctx ends, then lets requests in hand finish for a while.
func (s *Server) Run(ctx context.Context) error {
	return serveUntil(ctx, s.http, s.Addr(), func() error { return s.http.ServeTLS(s.listener, "", "") }, func() {
		if s.raft != nil {
			_ = s.raft.Close() // else Shutdown would wait for connections that never rest
		}
	})
}

// Close gives the port back without Run having been called.
func (s *Server) Close() error { return s.listener.Close() }
