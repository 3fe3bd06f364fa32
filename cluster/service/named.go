package service

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// Named returns the interceptor that refuses, with NoServer, a request of somebody
// who means another server: the gateway that the request came through says nothing about the server
// named in PBS_DEFAULT or pbs.conf. resolve returns the addresses of a host, for names
// that only the site's name service knows to be ours; nil: there are none.
func Named(replica Replica, resolve func(ctx context.Context, host string) ([]string, error)) connect.Interceptor {
	return &named{replica, resolve}
}

type named struct {
	replica Replica
	resolve func(ctx context.Context, host string) ([]string, error)
}

// resolveWithin bounds all look-ups of a request: a name service that is down must not
// hold up the budget of the caller, who may then try another server.
const resolveWithin = 3 * time.Second

func (n *named) check(ctx context.Context, header string) error {
	if header == "" {
		return nil
	}
	names := strings.Split(header, ",")
	var v *state.View
	for _, mode := range []cluster.Mode{cluster.Stale, cluster.Fresh} { // one that is behind may not know all replicas
		var err error
		if v, err = n.replica.Read(ctx, mode); err != nil {
			return err
		}
		if v.Cluster().ID == "" || !announced(v) { // it has not loaded its state: what it can be asked now is why
			return nil
		}
		if slices.ContainsFunc(names, func(name string) bool { return isAlias(v, name) }) {
			return nil
		}
	}
	if n.resolve != nil && n.sameHost(ctx, v, names) {
		return nil
	}
	return pbs.Errorf(pbs.NoServer, "no server of cluster %s is called %s", v.Cluster().Name, strings.Join(names, " or "))
}

// announced reports whether any replica has said who it is: the first one does so when its
// first term has begun, and may be asked before.
func announced(v *state.View) bool {
	for range v.Replicas() {
		return true
	}
	return false
}

// isAlias reports whether NAME[:PORT] means this cluster or a replica of it: by name, by host, with
// or without its domain, or by address. The case of letters does not matter. "localhost" is the
// host of the daemon that was asked, which serves this cluster.
func isAlias(v *state.View, name string) bool {
	if name == "" || name == "default" || name == v.Cluster().Name || slices.Contains(v.Cluster().Former, name) {
		return true
	}
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		host, port = strings.Trim(name, "[]"), ""
	}
	for r := range v.Replicas() {
		h, p, _ := net.SplitHostPort(r.Address)
		if port != "" && port != p {
			continue
		}
		if pbs.SameHost(host, v.Cluster().Name) || host == h || pbs.ThisHost(host) || pbs.SameHost(host, string(r.Name)) || pbs.SameHost(host, string(r.Host)) {
			return true
		}
	}
	return false
}

// sameHost reports whether one of the names leads to an address of a replica.
func (n *named) sameHost(ctx context.Context, v *state.View, names []string) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	ours := map[string]bool{}
	for r := range v.Replicas() {
		host, port, _ := net.SplitHostPort(r.Address)
		for _, ip := range n.addresses(ctx, host) {
			ours[ip], ours[net.JoinHostPort(ip, port)] = true, true
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		host, port, err := net.SplitHostPort(name)
		if err != nil {
			host, port = strings.Trim(name, "[]"), ""
		}
		return slices.ContainsFunc(n.addresses(ctx, host), func(ip string) bool {
			return port == "" && ours[ip] || port != "" && ours[net.JoinHostPort(ip, port)]
		})
	})
}

func (n *named) addresses(ctx context.Context, host string) []string {
	if net.ParseIP(host) != nil {
		return []string{host}
	}
	all, _ := n.resolve(ctx, host) // a name that nobody knows has none
	return all
}

// WrapUnary implements connect.Interceptor.
func (n *named) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if err := n.check(ctx, r.Header().Get(transport.HeaderServer)); err != nil {
			return nil, err
		}
		return next(ctx, r)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (n *named) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (n *named) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		if err := n.check(ctx, conn.RequestHeader().Get(transport.HeaderServer)); err != nil {
			return err
		}
		return next(ctx, conn)
	}
}
