package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

const (
	// leaderWait is how long a request waits for a leader to be known before it
	// is answered Unavailable: an election is over by then, as a rule.
	leaderWait = 2 * time.Second
	leaderPoll = 20 * time.Millisecond
	// maxBody holds the greatest script in the base64 of JSON, and a margin.
	maxBody = pbs.MaxScript/3*4 + 1<<20
)

// HandlerConfig is what a Handler needs.
type HandlerConfig struct {
	Identity *Identity
	// Leader tells the leader's HOST:PORT, whether that is this process, and
	// whether it is known. Nil on a process that does everything itself (a mom).
	Leader func() (address string, self, ok bool)
	// Silent reports whether this process will hear of no leader for now, so that a request
	// need not wait for one here. Nil: never.
	Silent func() bool
	// Network reaches the leader.
	Network Network
	// Login reads a login token. Nil: none is taken.
	Login func(token string) (pbs.User, error)
	// Logged takes the lines that the leader has written into its server log about requests that this process has passed on. Nil:
	// nobody does.
	Logged func(LogLine)
	Logger *slog.Logger
}

// A Handler is what a process serves, in four steps: identify, permit, pass on
// to the leader or handle. A gateway on the same host enters behind the first.
type Handler struct {
	config HandlerConfig
	mux    *http.ServeMux
	plain  map[string]Rule
	errors errorWriter
	proxy  *leaderProxy

	uploads *uploads
}

// NewHandler returns a handler without services; Mount and Plain add them
// before it serves.
func NewHandler(config HandlerConfig) *Handler {
	h := &Handler{
		config: config, mux: http.NewServeMux(), plain: map[string]Rule{},
		errors: newErrorWriter(), uploads: newUploads(),
	}
	if config.Leader != nil {
		h.proxy = newLeaderProxy(config, h.fail)
	}
	return h
}

// Mount adds a Connect service, as apiconnect's New...Handler returns it.
func (h *Handler) Mount(path string, service http.Handler) { h.mux.Handle(path, service) }

// Plain adds a handler at a path of its own, such as "/metrics", for the given
// audience.
func (h *Handler) Plain(path string, who Audience, handler http.Handler) {
	h.plain[path] = Rule{For: who, At: AtHere}
	h.mux.Handle(path, handler)
}

// Close ends the pooled connections to the leader. Call it when no request is
// in hand any more.
func (h *Handler) Close() {
	if h.proxy != nil {
		h.proxy.transport.CloseIdleConnections()
	}
}

// ServeHTTP identifies the caller, unless a gateway has, and goes on.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.config.Leader != nil {
		if address, _, ok := h.config.Leader(); ok {
			w.Header().Set(HeaderLeader, address)
		}
	}
	retire(w, r)
	caller, fromGateway := CallerFrom(r.Context())
	forwarded := false
	if !fromGateway {
		var err error
		if caller, forwarded, err = h.identify(r); err != nil {
			h.fail(w, r, err)
			return
		}
	}
	stripAssertions(r.Header)
	h.serve(w, r.WithContext(WithCaller(r.Context(), caller)), caller, forwarded)
}

// retire lets a connection end, behind the requests in hand, once half of the life of the
// caller's certificate is over: the caller has renewed it long since, and goes on under the
// new one. A connection that is never idle would else outlive the certificate that it was
// opened with, and its owner be taken for expired.
func retire(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return
	}
	c := r.TLS.PeerCertificates[0]
	if time.Until(c.NotAfter) < c.NotAfter.Sub(c.NotBefore)/2 {
		w.Header().Set("Connection", "close") // over HTTP/2, too, it says goodbye
	}
}

// serve permits and routes.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, caller Caller, forwarded bool) {
	rule, ok := h.rule(r.URL.Path)
	if !ok || !rule.For.admits(caller) {
		h.fail(w, r, refuseCall(caller, r.URL.Path, ok))
		return
	}
	if err := ensureRequestID(w, r); err != nil {
		h.fail(w, r, err)
		return
	}
	if !endless[r.URL.Path] && !twoWay(r.URL.Path) {
		if r.ContentLength > maxBody {
			h.fail(w, r, tooLarge(r.URL.Path, maxBody))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	done, err := h.uploads.admit(r, caller, http.NewResponseController(w).SetReadDeadline)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	defer done()
	if rule.At == AtHere || h.proxy == nil {
		h.here(w, r)
		return
	}
	address, self, err := h.waitLeader(r.Context(), forwarded)
	switch {
	case err != nil:
		h.fail(w, r, err)
	case self:
		if forwarded {
			w, r = withNotes(w, r)
		}
		h.here(w, r)
	default:
		h.proxy.forward(w, r, caller, address)
	}
}

// here does a request at this process.
func (h *Handler) here(w http.ResponseWriter, r *http.Request) {
	r, end := budgeted(w, r)
	defer end()
	h.mux.ServeHTTP(w, r)
}

// rpcPrefix begins every procedure of ours.
const rpcPrefix = "/rampart.v1."

func (h *Handler) rule(path string) (Rule, bool) {
	if rule, ok := RuleOf(path); ok {
		return rule, true
	}
	rule, ok := h.plain[path]
	return rule, ok
}

// maxRequestID leaves room for a UUID and the number of an operand.
const maxRequestID = 64

// ensureRequestID gives a request without an id one, and tells the caller.
func ensureRequestID(w http.ResponseWriter, r *http.Request) error {
	if !strings.HasPrefix(r.URL.Path, rpcPrefix) {
		return nil
	}
	id := r.Header.Get(HeaderRequestID)
	if len(id) > maxRequestID {
		return fmt.Errorf("request id of %d bytes: %w", len(id), pbs.Refuse(pbs.InvalidRequest))
	}
	if id == "" {
		id = string(NewRequestID())
		r.Header.Set(HeaderRequestID, id)
	}
	w.Header().Set(HeaderRequestID, id)
	return nil
}

// waitLeader returns where the request goes. A forwarded one does not go on:
// two replicas with different beliefs would send it round and round.
func (h *Handler) waitLeader(ctx context.Context, forwarded bool) (address string, self bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaderWait)
	defer cancel()
	tick := time.NewTicker(leaderPoll)
	defer tick.Stop()
	for {
		address, self, ok := h.config.Leader()
		switch {
		case ok && forwarded && !self:
			return "", false, ErrNotLeader
		case ok:
			return address, self, nil
		case h.config.Silent != nil && h.config.Silent():
			return "", false, ErrNotLeader
		}
		select {
		case <-ctx.Done():
			return "", false, pbs.Refuse(pbs.NoQuorum)
		case <-Stopping(ctx): // whoever leads next, this process will not hear of it
			return "", false, pbs.Refuse(pbs.NoQuorum)
		case <-tick.C:
		}
	}
}

// refuseCall refuses a call. An identified caller is told of a method that this version does not know: during an upgrade a command may be newer than
// the replica that it asks.
func refuseCall(caller Caller, path string, known bool) error {
	if !known && caller != (Caller{}) && strings.HasPrefix(path, rpcPrefix) {
		return pbs.Errorf(pbs.NotSupported, "the replica that was asked runs a version that does not know the request: upgrade it first")
	}
	return refuse(caller, path)
}

func refuse(caller Caller, path string) error {
	if caller == (Caller{}) {
		return connect.NewError(connect.CodeUnauthenticated, errors.New("a certificate or a login token is needed"))
	}
	who := string(caller.Role) + " " + string(caller.Host)
	if caller.Person() {
		who = caller.User.String()
	}
	if caller.Expired {
		who += " with an expired certificate"
	}
	return fmt.Errorf("%s may not call %s: %w", who, path, pbs.Refuse(pbs.Unauthorized))
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.config.Logger.Debug("request refused", "path", r.URL.Path, "peer", r.RemoteAddr, "err", err)
	h.errors.write(w, r, err)
}
