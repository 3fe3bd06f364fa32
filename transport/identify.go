package transport

import (
	"errors"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

// identify says who asks, by the certificate of the connection, what its owner
// asserts, or a login token, and whether a replica has passed the request on.
// Someone without any of these is the zero Caller.
func (h *Handler) identify(r *http.Request) (c Caller, forwarded bool, err error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		c, err = h.identifyToken(r)
		return c, false, err
	}
	peer, err := h.config.Identity.known(r.TLS.PeerCertificates[0])
	if err != nil {
		code := connect.CodeUnauthenticated
		if r.Header.Get(HeaderForwarded) != "" {
			code = connect.CodeUnavailable // it is not the asker's fault: another replica may pass it on
		}
		return Caller{}, false, connect.NewError(code, err)
	}
	if peer.Role == RoleReplica && !peer.Expired && r.Header.Get(HeaderForwarded) != "" {
		c, err = h.passedOn(r)
		return c, true, err
	}
	c = Caller{Role: peer.Role, Host: peer.Host, Key: peer.Key, Expired: peer.Expired}
	if name := r.Header.Get(HeaderUser); name != "" {
		// A host vouches for its own users only, whatever it says after "@".
		c.User = pbs.User{Name: pbs.ParseUser(name).Name, Host: peer.Host}
		c.Vouched = true
	}
	return c, false, nil
}

// passedOn returns the caller as another replica has identified it. That replica may not
// have heard yet of whom this one no longer lets in.
func (h *Handler) passedOn(r *http.Request) (Caller, error) {
	c, err := decodeCaller(r.Header.Get(HeaderCaller))
	if err != nil || !c.Role.Valid() {
		return c, err
	}
	if err := h.config.Identity.check(Peer{Role: c.Role, Host: c.Host, Key: c.Key}); err != nil {
		return Caller{}, connect.NewError(connect.CodeUnauthenticated, err)
	}
	return c, nil
}

func (h *Handler) identifyToken(r *http.Request) (Caller, error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return Caller{}, nil
	}
	if h.config.Login == nil {
		return Caller{}, connect.NewError(connect.CodeUnauthenticated, errors.New("login tokens are not taken here"))
	}
	user, err := h.config.Login(text)
	if err != nil {
		return Caller{}, connect.NewError(connect.CodeUnauthenticated, err)
	}
	return Caller{User: user, Token: true}, nil
}
