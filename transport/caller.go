package transport

import (
	"context"

	"rampart/fsm/pbs"
)

// A Caller is the authenticated peer of a request: a daemon by its certificate, a person whom a daemon
// vouches for, or a person with a login token.
type Caller struct {
	// User is the person; its name is empty when a daemon asks for itself.
	User pbs.User
	// Role and Host come from the certificate, empty without one. Of a
	// forwarded request they are the first daemon's, not the forwarding replica's.
	Role Role
	Host pbs.HostName
	// Key is the KeyHash of the certificate, for the identity on record: it reports
	// whether a mom was enrolled with --submit and may vouch for any user.
	Key string
	// Vouched means that a daemon of Role on Host asserts the user. The roles
	// submit and replica vouch for anybody; a mom for owners of jobs on it, and
	// for others only if it was enrolled so: the service judges that.
	Vouched bool
	// Token means that the user came with a login token.
	Token bool
	// Expired means that the certificate's time is over; only Renew sees such.
	Expired bool
}

// Person reports whether a person asks, and not a daemon for itself.
func (c Caller) Person() bool { return c.User.Name != "" }

type callerKey struct{}

// WithCaller returns a context that knows the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of the request that ctx belongs to.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}
