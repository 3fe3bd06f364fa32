package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api/apiconnect"
)

// ForwarderConfig is what a Forwarder needs.
type ForwarderConfig struct {
	Identity *Identity
	Network  Network
	Replicas *Replicas
	Logger   *slog.Logger
}

// A Forwarder takes what a gateway's people ask to the replicas, over pooled
// connections, and vouches for them. It stands behind the gateway of a mom or a
// submit-only host; a replica's own gateway needs none.
type Forwarder struct {
	roamer *Roamer
	proxy  *httputil.ReverseProxy
	errors errorWriter

	uploads *uploads
}

// NewForwarder returns the handler for GatewayConfig.Next.
func NewForwarder(config ForwarderConfig) *Forwarder {
	f := &Forwarder{
		roamer: NewRoamer(RoamConfig{
			Replicas: config.Replicas, Network: config.Identity.Over(config.Network), TLS: config.Identity.ClientTLS(RoleReplica),
		}),
		errors: newErrorWriter(), uploads: newUploads(),
	}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			caller, _ := CallerFrom(pr.In.Context())
			pr.Out.URL.Scheme, pr.Out.URL.Host = "https", "replica" // the Roamer finds one
			pr.Out.Header.Set(HeaderUser, caller.User.Name)
			if twoWay(pr.In.URL.Path) { // what the proxy has put around it ends no read when it is closed
				pr.Out.Body = pr.In.Body
			}
		},
		Transport:     f.roamer,
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			f.errors.write(w, r, roamFailure(r, err))
		},
	}
	return f
}

// Close ends the pooled connections. Call it when no request is in hand any more.
func (f *Forwarder) Close() { f.roamer.Close() }

// ServeHTTP passes on what a person may ask of the cluster; a person never
// speaks with the daemon's own voice.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller, ok := CallerFrom(r.Context())
	rule, known := RuleOf(r.URL.Path)
	if !ok || !known || !caller.Person() || !rule.For.admits(caller) {
		f.errors.write(w, r, refuseCall(caller, r.URL.Path, known))
		return
	}
	done, err := f.uploads.admit(r, caller, http.NewResponseController(w).SetReadDeadline)
	if err != nil {
		f.errors.write(w, r, err)
		return
	}
	defer done()
	if strings.HasPrefix(r.URL.Path, rpcPrefix) && r.Header.Get(HeaderRequestID) == "" {
		r.Header.Set(HeaderRequestID, string(NewRequestID())) // one for all attempts
	}
	if r.URL.Path == apiconnect.BatchWatchProcedure || r.URL.Path == apiconnect.BatchFollowOutputProcedure || twoWay(r.URL.Path) { // it would outlast us
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-Stopping(ctx):
				cancel()
			case <-ctx.Done():
			}
		}()
		r = r.WithContext(ctx)
	}
	w = interims{w, r.Header.Get(HeaderInterim) != ""}
	r.Header.Set(HeaderInterim, "1") // we read it, whatever the asker can read
	ctx, cancel := WithBudget(r.Context(), timeoutOf(r))
	defer cancel()
	f.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// roamFailure says what is known of a request that no replica answered.
func roamFailure(r *http.Request, err error) error {
	ctx := r.Context()
	roam, ok := errors.AsType[*RoamError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ok && roam.Sent:
		return pbs.Refuse(pbs.UnknownResult)
	case ok:
		return connect.NewError(connect.CodeUnavailable, roam)
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(r.URL.Path, big.Limit)
	}
	return err
}
