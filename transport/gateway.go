package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"rampart/fsm/pbs"
)

// nobody is the uid of those whom a user namespace or NFS could not map.
const nobody = 65534

// GatewayConfig is what a Gateway needs.
type GatewayConfig struct {
	Listener net.Listener // of the Unix socket: ListenUnix
	Identity *Identity
	Accounts Accounts
	// Peer tells the uid at the other end; nil means PeerUID.
	Peer func(net.Conn) (uint32, error)
	// Next does the requests: the Handler on a replica, a Forwarder elsewhere.
	Next   http.Handler
	Logger *slog.Logger
}

// A Gateway serves people on this host over a Unix socket. The kernel tells who
// they are, and the daemon vouches for them.
type Gateway struct {
	config GatewayConfig
	errors errorWriter
	http   *http.Server
}

type peerKey struct{}

type peerUID struct {
	uid uint32
	err error
}

// NewGateway returns a gateway; nothing is accepted before Run.
func NewGateway(config GatewayConfig) *Gateway {
	if config.Peer == nil {
		config.Peer = PeerUID
	}
	g := &Gateway{config: config, errors: newErrorWriter()}
	g.http = &http.Server{
		Handler:           http.HandlerFunc(g.serve),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		Protocols:         new(http.Protocols),
		ErrorLog:          slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			uid, err := config.Peer(c)
			return context.WithValue(ctx, peerKey{}, peerUID{uid, err})
		},
	}
	g.http.Protocols.SetHTTP1(true)
	g.http.Protocols.SetUnencryptedHTTP2(true) // for whoever talks while he is answered
	return g
}

// Run serves until ctx ends, then lets requests in hand finish for a while.
func (g *Gateway) Run(ctx context.Context) error {
	return serveUntil(ctx, g.http, g.config.Listener.Addr(), func() error { return g.http.Serve(g.config.Listener) }, nil)
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	// The first byte of an acknowledgement: a command that hears nothing for
	// 300 ms takes the next gateway.
	// A client that has not said that it reads it might take it for the answer.
	if r.Header.Get(HeaderInterim) != "" && r.ProtoAtLeast(1, 1) {
		w.WriteHeader(http.StatusProcessing)
	}
	caller, err := g.identify(r.Context())
	if err != nil {
		g.config.Logger.Warn("gateway refused a caller", "err", err)
		g.errors.write(w, r, err)
		return
	}
	stripAssertions(r.Header)
	g.config.Next.ServeHTTP(w, r.WithContext(WithCaller(r.Context(), caller)))
}

func (g *Gateway) identify(ctx context.Context) (Caller, error) {
	p, _ := ctx.Value(peerKey{}).(peerUID)
	if p.err != nil {
		return Caller{}, fmt.Errorf("ask the kernel who calls: %w", p.err)
	}
	if p.uid == nobody {
		return Caller{}, fmt.Errorf("uid %d is nobody: %w", p.uid, pbs.Refuse(pbs.Unauthorized))
	}
	account, err := g.config.Accounts.ByUID(ctx, p.uid)
	if errors.Is(err, ErrNoAccount) {
		return Caller{}, fmt.Errorf("uid %d has no name: %w", p.uid, pbs.Refuse(pbs.Unauthorized))
	}
	if err != nil {
		return Caller{}, err
	}
	id := g.config.Identity
	return Caller{
		User: pbs.User{Name: account.Name, Host: id.Host()},
		Role: id.Role(), Host: id.Host(), Key: id.KeyHash(), Vouched: true,
	}, nil
}
