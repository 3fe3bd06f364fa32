package transport

import (
	"errors"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

// identify says who asks, by the certificate of the connection, what its owner
// asserts, or a login token. Someone without any of these is the zero Caller.
func (h *Handler) identify(r *http.Request) (Caller, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return h.identifyToken(r)
	}
	// The chain was verified at the handshake; a connection may outlive its
	// certificate or the host's right to be here, so each request looks again.
	peer, err := h.config.Identity.peer(r.TLS.PeerCertificates)
	if err != nil {
		return Caller{}, connect.NewError(connect.CodeUnauthenticated, err)
	}
	if peer.Role == RoleReplica && !peer.Expired && r.Header.Get(HeaderForwarded) != "" {
		return decodeCaller(r.Header.Get(HeaderCaller))
	}
	c := Caller{Role: peer.Role, Host: peer.Host, Key: peer.Key, Expired: peer.Expired}
	if name := r.Header.Get(HeaderUser); name != "" {
		// A host vouches for its own users only, whatever it says after "@".
		c.User = pbs.User{Name: pbs.ParseUser(name).Name, Host: peer.Host}
		c.Vouched = true
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

// isReplica tells whether the other end of the request's connection is one.
func isReplica(r *http.Request, id *Identity) bool {
	if r.TLS == nil {
		return false
	}
	p, err := id.peer(r.TLS.PeerCertificates)
	return err == nil && p.Role == RoleReplica && !p.Expired
}
