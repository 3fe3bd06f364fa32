package service

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/login"
)

// The life of an enrolment token, unless the asker says otherwise.
const (
	tokenTTL    = time.Hour
	maxTokenTTL = 30 * 24 * time.Hour
)

// CreateToken lets a host enrol: only the hash of the secret enters the state.
func (c *Cluster) CreateToken(ctx context.Context, r *connect.Request[api.CreateTokenRequest]) (*connect.Response[api.CreateTokenReply], error) {
	if err := c.onlyManagers(ctx); err != nil {
		return nil, err
	}
	role := transport.Role(r.Msg.GetRole())
	if !role.Valid() {
		return nil, pbs.Errorf(pbs.InvalidRequest, "create token: %q is no role: replica, mom or submit", role)
	}
	ttl, err := seconds(r.Msg.GetTtlSeconds(), tokenTTL, maxTokenTTL)
	if err != nil {
		return nil, err
	}
	token := transport.NewToken(c.CA, role)
	caller, _ := transport.CallerFrom(ctx)
	// The id is not the request's: a repeat has another secret, and an unused token
	// does no harm.
	_, err = c.commit(ctx, caller.User, &command.CreateToken{Token: state.Token{
		Hash: token.Hash(), Role: string(role), Host: pbs.HostName(r.Msg.GetHost()),
		Expires: pbs.Time(time.Now().Add(ttl).UnixNano()), Reusable: r.Msg.GetReusable(), Submit: r.Msg.GetSubmit(),
	}})
	return reply(&api.CreateTokenReply{Token: token.String()}, err)
}

func seconds(n int64, normal, most time.Duration) (time.Duration, error) {
	switch {
	case n == 0:
		return normal, nil
	case n < 0 || n > int64(most/time.Second):
		return 0, pbs.Errorf(pbs.InvalidRequest, "a life of %d seconds is not between 1 and %d", n, int64(most/time.Second))
	}
	return time.Duration(n) * time.Second, nil
}

// Join turns a token and a certificate request into an identity. A repeat with
// the same key is answered again, for the first answer may have been lost.
func (c *Cluster) Join(ctx context.Context, r *connect.Request[api.JoinRequest]) (*connect.Response[api.JoinReply], error) {
	token, err := transport.ParseToken(r.Msg.GetToken())
	if err != nil {
		return nil, fmt.Errorf("join of %s: %w: %w", r.Msg.GetHost(), pbs.Refuse(pbs.BadToken), err)
	}
	if err := c.mayEnrol(ctx, token); err != nil {
		return nil, err
	}
	key, err1 := transport.CSRKeyHash(r.Msg.GetCsr())
	leaf, err2 := c.CA.Sign(r.Msg.GetCsr(), token.Role, pbs.HostName(r.Msg.GetHost()), time.Now())
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("%w: %w", pbs.Errorf(pbs.InvalidRequest, "join of %s: the certificate request cannot be signed", r.Msg.GetHost()), err)
	}
	identity := state.Identity{KeyHash: key, Role: string(token.Role), Host: pbs.HostName(r.Msg.GetHost())}
	if identity.Expires, identity.Root, err = c.described(leaf); err != nil {
		return nil, err
	}
	if _, err = c.commit(ctx, pbs.User{}, &command.Enrol{TokenHash: token.Hash(), Identity: identity}); err != nil {
		return nil, err
	}
	return c.welcome(ctx, token.Role, leaf)
}

// described returns what is on record of a leaf: when it expires, and the hash of the CA that
// signed it.
func (c *Cluster) described(leaf []byte) (expires pbs.Time, root string, err error) {
	cert, err := x509.ParseCertificate(leaf)
	if err != nil {
		return 0, "", fmt.Errorf("join: %w", err)
	}
	return pbs.Time(cert.NotAfter.UnixNano()), transport.SignedBy(c.CA.Roots(), cert), nil
}

// mayEnrol refuses a token that is not on record before anything is signed or
// proposed for it: anybody may call Join.
func (c *Cluster) mayEnrol(ctx context.Context, token transport.Token) error {
	for _, mode := range []cluster.Mode{cluster.Stale, cluster.Fresh} {
		v, err := c.Replica.Read(ctx, mode)
		if err != nil {
			return err
		}
		if _, ok := v.Token(token.Hash()); ok {
			return nil
		}
	}
	return pbs.Refuse(pbs.BadToken)
}

// welcome tells an enrolled process all that it needs; the CA's key goes to
// replicas only.
func (c *Cluster) welcome(ctx context.Context, role transport.Role, leaf []byte) (*connect.Response[api.JoinReply], error) {
	v, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.JoinReply{
		Cluster: v.Cluster().ID, Server: v.Cluster().Name, Certificate: leaf, Ca: c.CA.Roots(),
	}
	out.RttClass = string(v.Cluster().RTTClass)
	if role == transport.RoleReplica {
		if out.CaKey, err = c.CA.MarshalKey(); err != nil {
			return nil, fmt.Errorf("join: %w", err)
		}
	}
	if keys := v.Cluster().GossipKeys; len(keys) > 0 && role != transport.RoleSubmit {
		out.GossipKey = keys[0]
	}
	out.Replicas = replicasOf(v)
	return connect.NewResponse(out), nil
}

// Renew turns an identity, expired or not, into a fresh one for the same key.
func (c *Cluster) Renew(ctx context.Context, r *connect.Request[api.RenewRequest]) (*connect.Response[api.RenewReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	known, err := c.onRecord(ctx, caller)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fmt.Errorf("renew %s %s: the key is not on record: %w", caller.Role, caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	key, err1 := transport.CSRKeyHash(r.Msg.GetCsr())
	leaf, err2 := c.CA.Renew(r.Msg.GetCsr(), caller.Role, caller.Host, time.Now(), r.Msg.GetTrusts())
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("%w: %w", pbs.Errorf(pbs.InvalidRequest, "renew: the certificate request cannot be signed"), err)
	}
	if key != caller.Key {
		return nil, fmt.Errorf("renew %s with another key: %w", caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	// Operators want to see who renews and who does not; the leaf is as good without.
	if cert, err := x509.ParseCertificate(leaf); err == nil {
		err = c.record(ctx, state.Identity{
			KeyHash: caller.Key, Role: string(caller.Role), Host: caller.Host, Root: transport.SignedBy(c.CA.Roots(), cert),
			Renewed: pbs.Time(time.Now().UnixNano()), Expires: pbs.Time(cert.NotAfter.UnixNano()),
		})
		if err != nil && pbs.CodeOf(err) != pbs.NotSupported {
			c.Logger.Warn("put a renewed certificate on record", "role", caller.Role, "host", caller.Host, "error", err)
		}
	}
	return connect.NewResponse(&api.RenewReply{Certificate: leaf}), nil
}

// onRecord looks the caller's key up; a replica that is behind asks for a fresh view
// before it says no.
func (c *Cluster) onRecord(ctx context.Context, caller transport.Caller) (bool, error) {
	for _, mode := range []cluster.Mode{cluster.Stale, cluster.Fresh} {
		v, err := c.Replica.Read(ctx, mode)
		if err != nil {
			return false, err
		}
		if id, ok := v.Identity(caller.Key); ok {
			return id.Host == caller.Host && id.Role == string(caller.Role) && id.Revoked == 0, nil
		}
	}
	return false, nil
}

// Login issues a short-lived token for users without a local daemon.
func (c *Cluster) Login(ctx context.Context, r *connect.Request[api.LoginRequest]) (*connect.Response[api.LoginReply], error) {
	v, err := c.present(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.person(ctx, v)
	if err != nil {
		return nil, err
	}
	// A mom that vouches for the owners of its jobs does so while they run; a token
	// would outlive them.
	if caller, _ := transport.CallerFrom(ctx); caller.Role == transport.RoleMom && !vouchesForAll(v, caller) {
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	ttl, err := seconds(r.Msg.GetTtlSeconds(), login.DefaultLife, login.MaxLife)
	if err != nil {
		return nil, err
	}
	token, expires, err := c.Logins.Issue(p.user, ttl)
	return reply(&api.LoginReply{Token: token, Expires: expires.Unix()}, err)
}
