package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

// leaderProxy passes requests on to the leader over pooled connections, with
// the caller whom this replica has identified.
type leaderProxy struct {
	leader    func() (address string, self, ok bool)
	transport *http.Transport
	proxy     *httputil.ReverseProxy
}

type target struct {
	address string
	caller  Caller
	heard   func() // the head of the reply is here
}

type targetKey struct{}

func newLeaderProxy(config HandlerConfig, fail func(http.ResponseWriter, *http.Request, error)) *leaderProxy {
	p := &leaderProxy{leader: config.Leader, transport: NewTransport(config.Identity.Over(config.Network), config.Identity.ClientTLS(RoleReplica))}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:       rewriteToLeader,
		Transport:     p.transport,
		FlushInterval: -1, // streams go on message by message
		ModifyResponse: func(r *http.Response) error {
			if t, ok := r.Request.Context().Value(targetKey{}).(target); ok {
				t.heard()
			}
			takeNotes(r.Header, config.Logged)
			return nil
		},
		ErrorLog: slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			w.Header().Set(HeaderElsewhere, "1") // it may be us whom the leader does not hear
			fail(w, r, proxyError(r, err))
		},
	}
	return p
}

func (p *leaderProxy) forward(w http.ResponseWriter, r *http.Request, caller Caller, address string) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	heard := p.whileLeading(address, cancel)
	defer heard()
	ctx = context.WithValue(ctx, targetKey{}, target{address, caller, heard})
	w.Header().Del(HeaderLeader)
	w.Header().Del(HeaderRequestID)
	p.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// errDeposed ends a request to a replica that leads no longer.
var errDeposed = errors.New("another replica leads now")

// deposedAfter is how often a request without a reply looks who leads.
const deposedAfter = 100 * time.Millisecond

// whileLeading cancels a request once another replica leads: one that was stopped, or
// cut off, holds its connections open and says nothing for seconds. The function that
// it returns ends the watch.
func (p *leaderProxy) whileLeading(address string, cancel context.CancelCauseFunc) func() {
	var ended atomic.Bool
	var look func()
	look = func() {
		if ended.Load() {
			return
		}
		if now, _, ok := p.leader(); ok && now != address {
			cancel(errDeposed)
			return
		}
		time.AfterFunc(deposedAfter, look)
	}
	timer := time.AfterFunc(deposedAfter, look)
	return func() {
		ended.Store(true)
		timer.Stop()
	}
}

func rewriteToLeader(pr *httputil.ProxyRequest) {
	t, _ := pr.In.Context().Value(targetKey{}).(target)
	pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = "https", t.address, t.address
	pr.Out.Header.Set(HeaderForwarded, "1")
	pr.Out.Header.Set(HeaderCaller, encodeCaller(t.caller))
}

// proxyError says what is known of a request that the leader did not answer.
func proxyError(r *http.Request, err error) error {
	ctx := r.Context()
	if _, ok := errors.AsType[*dialError](err); ok {
		return connect.NewError(connect.CodeUnavailable, err) // it was never sent
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errDeposed) {
		return ctx.Err()
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(r.URL.Path, big.Limit)
	}
	return pbs.Refuse(pbs.UnknownResult)
}
