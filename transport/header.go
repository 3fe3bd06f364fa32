package transport

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"time"

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
	// HeaderServer lists the servers, separated by commas, one of which the caller
	// means: a replica of another cluster refuses the request.
	HeaderServer = "Rampart-Server"
	// HeaderElsewhere marks a reply of which another replica may know more: a stream's
	// status does not tell.
	HeaderElsewhere = "Rampart-Elsewhere"
	// HeaderUncertain marks a reply to a request that was sent to another replica
	// before and may have taken effect there: that this one did nothing says little.
	HeaderUncertain = "Rampart-Uncertain"
	// HeaderInterim says that the asker reads interim replies (status 102), and HeaderWorking in
	// such a one that the server works on the request.
	HeaderInterim = "Rampart-Interim"
	HeaderWorking = "Rampart-Working"
)

// RequestID is the identity of a request for ever.
type RequestID = pbs.RequestID

// NewRequestID makes a fresh id: a UUIDv7, which carries the time. (That of package
// uuid keeps a clock of its own for the whole process, which never goes back: wrong
// for good after the host's clock was once ahead, and between bubbles.)
func NewRequestID() RequestID {
	var id uuid.UUID
	_, _ = rand.Read(id[6:]) // never fails (crypto/rand)
	binary.BigEndian.PutUint64(id[:8], uint64(time.Now().UnixMilli())<<16|uint64(id[6])<<8|uint64(id[7]))
	id[6] = id[6]&0x0f | 0x70 // version
	id[8] = id[8]&0x3f | 0x80 // variant
	return RequestID(id.String())
}

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
