package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// DefaultBudget is how long a request may take in all, unless Options say.
const DefaultBudget = 30 * time.Second

// Options say whom to ask, as whom, and for how long.
type Options struct {
	// Replicas are the servers to try: HOST:PORT of a replica, or unix:PATH of a
	// gateway, in order.
	Replicas []string
	// Shared, if set, is used instead of Replicas: several users of one process
	// then learn together, and its owner may change the addresses.
	Shared *transport.Replicas
	// Network reaches HOST:PORT addresses; nil is the real one.
	Network transport.Network
	// Identity is the daemon that asks. Without one, TLS says whom to trust.
	Identity *transport.Identity
	// TLS is used when there is no Identity: transport.JoinTLS or UserTLS.
	TLS *tls.Config
	// Token is a login token, for a person without a daemon.
	Token string
	// User is whom a daemon vouches for; empty when it asks for itself.
	User string
	// Servers are the names by which the user knows the server, if he named any: a
	// cluster that goes by none of them refuses with NoServer.
	Servers []string
	// Waiting, if set, is called once in a call that has had no answer for 3 seconds.
	Waiting func()
	// Budget bounds a call with all its attempts; 0 is DefaultBudget.
	Budget time.Duration
}

// A Client asks the replicas.
type Client struct {
	options Options
	roamer  *transport.Roamer
	http    *http.Client
	connect []connect.ClientOption
}

// ErrUnreachable is the error of a call that found nobody to ask: nothing was
// sent. The chain holds the last attempt's error (a syscall.Errno, as a rule).
var ErrUnreachable = errors.New("no server can be reached")

// New returns a client; it connects when it is used.
func New(o Options) *Client {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Shared == nil {
		o.Shared = transport.NewReplicas(o.Replicas...)
	}
	if o.Network == nil {
		o.Network = transport.System{}
	}
	if o.Identity != nil {
		o.TLS = o.Identity.ClientTLS(transport.RoleReplica)
		o.Network = o.Identity.Over(o.Network)
	}
	c := &Client{options: o}
	c.roamer = transport.NewRoamer(transport.RoamConfig{Replicas: o.Shared, Network: o.Network, TLS: o.TLS})
	c.http = &http.Client{Transport: c.roamer}
	interceptors := []connect.Interceptor{&retrier{options: o}}
	if o.Identity == nil { // a person's words
		interceptors = append([]connect.Interceptor{transport.TextOnly()}, interceptors...)
	}
	c.connect = []connect.ClientOption{transport.Uncompressed(), connect.WithInterceptors(interceptors...)}
	return c
}

// baseURL is a name only: the Roamer puts a server's address in its place.
const baseURL = "https://cluster"

// Batch returns the client of the service that PBS commands use.
func (c *Client) Batch() apiconnect.BatchClient {
	return apiconnect.NewBatchClient(c.http, baseURL, c.connect...)
}

// Cluster returns the client of administration.
func (c *Client) Cluster() apiconnect.ClusterClient {
	return apiconnect.NewClusterClient(c.http, baseURL, c.connect...)
}

// Trust returns the client of tokens, certificates and keys.
func (c *Client) Trust() apiconnect.TrustClient {
	return apiconnect.NewTrustClient(c.http, baseURL, c.connect...)
}

// Recovery returns the client of what is left to do without a quorum.
func (c *Client) Recovery() apiconnect.RecoveryClient {
	return apiconnect.NewRecoveryClient(c.http, baseURL, c.connect...)
}

// Members returns the client of the Members service.
func (c *Client) Members() apiconnect.MembersClient {
	return apiconnect.NewMembersClient(c.http, baseURL, c.connect...)
}

// Halt returns the client of the service that ends replicas.
func (c *Client) Halt() apiconnect.HaltClient {
	return apiconnect.NewHaltClient(c.http, baseURL, c.connect...)
}

// Report returns the client of a mom's reports.
func (c *Client) Report() apiconnect.ReportClient {
	return apiconnect.NewReportClient(c.http, baseURL, c.connect...)
}

// Staging returns the client of what the servers tell those who move files.
func (c *Client) Staging() apiconnect.StagingClient {
	return apiconnect.NewStagingClient(c.http, baseURL, c.connect...)
}

// Replicas returns the addresses that the client tries; their owner may change
// them.
func (c *Client) Replicas() *transport.Replicas { return c.options.Shared }

// Close ends the idle connections. Call it when no call is in hand any more.
func (c *Client) Close() { c.roamer.Close() }

type idKey struct{}

// WithRequestID lets the next call go by the given id, so that a command can ask
// again for the outcome of an earlier one (L8).
func WithRequestID(ctx context.Context, id transport.RequestID) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

// NewRequestID makes a fresh id.
func NewRequestID() transport.RequestID { return transport.NewRequestID() }

// RequestIDs gives each call of a command its request id: a fresh one or, of an earlier
// command that is repeated, the same ones in the same order (L8).
func RequestIDs(first string) func(context.Context) context.Context {
	calls := 0
	return func(ctx context.Context) context.Context {
		id := NewRequestID()
		if first != "" {
			id = transport.RequestID(first)
			if calls > 0 {
				id = transport.RequestID(fmt.Sprintf("%s.%d", first, calls))
			}
		}
		calls++
		return WithRequestID(ctx, id)
	}
}

func requestID(ctx context.Context) transport.RequestID {
	if id, ok := ctx.Value(idKey{}).(transport.RequestID); ok {
		return id
	}
	return transport.NewRequestID()
}
