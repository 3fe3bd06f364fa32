package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

// leaderProxy passes requests on to the leader over pooled connections, with
// the caller whom this replica has identified.
type leaderProxy struct {
	transport *http.Transport
	proxy     *httputil.ReverseProxy
}

type target struct {
	address string
	caller  Caller
}

type targetKey struct{}

func newLeaderProxy(config HandlerConfig, fail func(http.ResponseWriter, *http.Request, error)) *leaderProxy {
	p := &leaderProxy{transport: NewTransport(config.Network, config.Identity.ClientTLS(RoleReplica))}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:       rewriteToLeader,
		Transport:     p.transport,
		FlushInterval: -1, // streams go on message by message
		ErrorLog:      slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			fail(w, r, proxyError(r.Context(), err))
		},
	}
	return p
}

func (p *leaderProxy) forward(w http.ResponseWriter, r *http.Request, caller Caller, address string) {
	ctx := context.WithValue(r.Context(), targetKey{}, target{address, caller})
	w.Header().Del(HeaderLeader)
	w.Header().Del(HeaderRequestID)
	p.proxy.ServeHTTP(w, r.WithContext(ctx))
}

func rewriteToLeader(pr *httputil.ProxyRequest) {
	t, _ := pr.In.Context().Value(targetKey{}).(target)
	pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = "https", t.address, t.address
	pr.Out.Header.Set(HeaderForwarded, "1")
	pr.Out.Header.Set(HeaderCaller, encodeCaller(t.caller))
}

// proxyError says what is known of a request that the leader did not answer.
func proxyError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*dialError](err); ok {
		return connect.NewError(connect.CodeUnavailable, err) // it was never sent
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, big := errors.AsType[*http.MaxBytesError](err); big {
		return pbs.Refuse(pbs.ScriptTooLarge)
	}
	return pbs.Refuse(pbs.UnknownResult)
}
