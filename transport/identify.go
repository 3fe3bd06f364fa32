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
	peer, err := h.config.Identity.met(r.TLS.PeerCertificates[0])
	if err != nil {
		return Caller{}, false, connect.NewError(connect.CodeUnauthenticated, err)
	}
	if peer.Role == RoleReplica && !peer.Expired && r.Header.Get(HeaderForwarded) != "" {
		c, err = decodeCaller(r.Header.Get(HeaderCaller))
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
