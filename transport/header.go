package transport

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"rampart/fsm/pbs"
)

// The headers of Rampart.
const (
	// HeaderRequestID names a request for ever (L8). One without is given one by
	// the first daemon that sees it, and told so in the reply.
	HeaderRequestID = "Rampart-Request-Id"
	// HeaderUser is a daemon's word for whom it asks; taken from daemons only.
	HeaderUser = "Rampart-User"
	// HeaderForwarded marks a request that a replica has passed on to the leader;
	// it is not passed on again. Taken from replicas only.
	HeaderForwarded = "Rampart-Forwarded"
	// HeaderCaller is the first caller of a forwarded request.
	HeaderCaller = "Rampart-Caller"
	// HeaderLeader tells in every reply of a replica where the leader is.
	HeaderLeader = "Rampart-Leader"
	// HeaderElsewhere marks a reply that says no more than "not here": a stream's
	// status does not tell.
	HeaderElsewhere = "Rampart-Elsewhere"
)

// RequestID is the identity of a request for ever.
type RequestID = pbs.RequestID

// NewRequestID makes a fresh id: a UUIDv7, which carries the time.
func NewRequestID() RequestID { return RequestID(uuid.Must(uuid.NewV7()).String()) }

// stripAssertions removes what only a daemon may say.
func stripAssertions(h http.Header) {
	for _, name := range []string{HeaderUser, HeaderForwarded, HeaderCaller, "Authorization"} {
		h.Del(name)
	}
}

// encodeCaller writes a caller as the value of HeaderCaller.
func encodeCaller(c Caller) string {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	flag := func(key string, on bool) {
		if on {
			v.Set(key, "1")
		}
	}
	set("user", c.User.Name)
	set("userhost", string(c.User.Host))
	set("role", string(c.Role))
	set("host", string(c.Host))
	set("key", c.Key)
	flag("vouched", c.Vouched)
	flag("token", c.Token)
	flag("expired", c.Expired)
	return v.Encode()
}

func decodeCaller(text string) (Caller, error) {
	v, err := url.ParseQuery(text)
	if err != nil {
		return Caller{}, fmt.Errorf("read %s: %w", HeaderCaller, err)
	}
	return Caller{
		User: pbs.User{Name: v.Get("user"), Host: pbs.HostName(v.Get("userhost"))},
		Role: Role(v.Get("role")), Host: pbs.HostName(v.Get("host")), Key: v.Get("key"),
		Vouched: v.Has("vouched"), Token: v.Has("token"), Expired: v.Has("expired"),
	}, nil
}
