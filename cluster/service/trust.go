package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Trust implements the Trust service: who belongs to the cluster, and by which keys.
type Trust struct {
	base
	Keys         Keys
	GossipBehind func() []string
	forgotten    forgotten
}

// manage carries out a change that a manager asks for, unless some replica does not know that kind yet.
func (t *Trust) manage(ctx context.Context, r connect.AnyRequest, prepare func(v *state.View) ([]command.Command, error)) error {
	_, err := t.change(ctx, r, func(p person) ([]command.Command, error) {
		if p.perm < attr.Manager {
			return nil, deny(p, "Req", "Server", p.view.Cluster().Name, typeManage)
		}
		return prepare(p.view)
	})
	return err
}

// atLevel refuses what a replica of the cluster might not understand.
func atLevel(v *state.View, level uint32) error {
	if have := v.Cluster().FeatureLevel; have < level {
		return pbs.Errorf(pbs.NotSupported, "not before every replica runs a version that knows it: the cluster is at feature level %d, this takes %d", have, level)
	}
	return nil
}

// managed returns the state for a manager who is about to replace keys.
func (t *Trust) managed(ctx context.Context) (*state.View, error) {
	if err := t.onlyManagers(ctx); err != nil {
		return nil, err
	}
	return t.Replica.Read(ctx, cluster.Fresh)
}

// ListTokens tells which enrolment tokens are still good.
func (t *Trust) ListTokens(ctx context.Context, _ *connect.Request[api.ListTokensRequest]) (*connect.Response[api.ListTokensReply], error) {
	if err := t.onlyManagers(ctx); err != nil {
		return nil, err
	}
	v, err := t.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	out := &api.ListTokensReply{}
	for tok := range v.Tokens() {
		if !good(tok, time.Now()) {
			continue
		}
		out.Tokens = append(out.Tokens, &api.TokenInfo{
			Id: tok.Hash, Role: tok.Role, Host: string(tok.Host), Created: unix(tok.Created), Expires: unix(tok.Expires),
			Reusable: tok.Reusable, Submit: tok.Submit, Used: tok.Used,
		})
	}
	slices.SortStableFunc(out.Tokens, func(a, b *api.TokenInfo) int { return cmp.Compare(a.GetExpires(), b.GetExpires()) })
	return connect.NewResponse(out), nil
}

// good reports whether a token still lets somebody in.
func good(t *state.Token, now time.Time) bool {
	return t.Expires >= pbs.Time(now.UnixNano()) && (t.Reusable || !t.Used)
}

// unix returns the seconds since the epoch; a time that is not known stays 0.
func unix(t pbs.Time) int64 { return int64(t) / int64(time.Second) }

// RevokeToken makes an enrolment token worthless; it may be named by itself, its id or the
// beginning of its id.
func (t *Trust) RevokeToken(ctx context.Context, r *connect.Request[api.RevokeTokenRequest]) (*connect.Response[api.RevokeTokenReply], error) {
	var hash string
	err := t.manage(ctx, r, func(v *state.View) (_ []command.Command, err error) {
		if hash, err = tokenNamed(v, r.Msg.GetToken()); err != nil {
			return nil, err
		}
		return []command.Command{&command.RevokeToken{Hash: hash}}, nil
	})
	return reply(&api.RevokeTokenReply{Id: hash}, err)
}

// shortestID is how much of a token's id names it.
const shortestID = 4

func tokenNamed(v *state.View, text string) (string, error) {
	if token, err := transport.ParseToken(text); err == nil {
		text = token.Hash()
	}
	var found []string
	for tok := range v.Tokens() {
		if len(text) >= shortestID && strings.HasPrefix(tok.Hash, strings.ToLower(text)) {
			found = append(found, tok.Hash)
		}
	}
	switch len(found) {
	case 0:
		return "", pbs.Errorf(pbs.BadToken, "no token has an id that begins with %.16q", text)
	case 1:
		return found[0], nil
	}
	return "", pbs.Errorf(pbs.InvalidRequest, "%d tokens have ids that begin with %q", len(found), text)
}

// ListCertificates tells whose keys are on record.
func (t *Trust) ListCertificates(ctx context.Context, _ *connect.Request[api.ListCertificatesRequest]) (*connect.Response[api.ListCertificatesReply], error) {
	if err := t.onlyManagers(ctx); err != nil {
		return nil, err
	}
	v, err := t.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	out := &api.ListCertificatesReply{}
	for id := range v.Identities() {
		out.Certificates = append(out.Certificates, &api.CertificateInfo{
			Host: string(id.Host), Role: id.Role, Key: id.KeyHash, Submit: id.Submit,
			Enrolled: unix(id.Created), Renewed: unix(id.Renewed), Expires: unix(id.Expires), Revoked: unix(id.Revoked),
		})
	}
	slices.SortStableFunc(out.Certificates, func(a, b *api.CertificateInfo) int {
		return cmp.Or(cmp.Compare(a.GetHost(), b.GetHost()), cmp.Compare(a.GetRole(), b.GetRole()), cmp.Compare(a.GetEnrolled(), b.GetEnrolled()))
	})
	return connect.NewResponse(out), nil
}

// RevokeCertificate cuts a host off, and begins to replace the gossip key that it knows.
func (t *Trust) RevokeCertificate(ctx context.Context, r *connect.Request[api.RevokeCertificateRequest]) (*connect.Response[api.RevokeCertificateReply], error) {
	host, out := pbs.HostName(r.Msg.GetHost()), &api.RevokeCertificateReply{}
	caller, _ := transport.CallerFrom(ctx)
	err := t.manage(ctx, r, func(v *state.View) (_ []command.Command, err error) {
		if out.Role, out.Keys, err = roleOf(v, host, r.Msg.GetRole()); err != nil {
			return nil, err
		}
		if caller.Host == host && string(caller.Role) == out.Role {
			return nil, pbs.Errorf(pbs.InvalidRequest, "revoke %s: ask from another host; this one would not hear the answer", host)
		}
		if out.Role == string(transport.RoleReplica) {
			if err := t.mayLose(ctx, host); err != nil {
				return nil, err
			}
		}
		commands := []command.Command{&command.RevokeIdentity{Role: out.Role, Host: host}}
		if out.Role == string(transport.RoleSubmit) {
			return commands, nil
		}
		out.GossipTurning = len(v.Cluster().GossipKeys) == 1
		out.GossipPending = len(v.Cluster().GossipKeys) > 1
		if out.GossipTurning {
			commands = append(commands, freshGossipKey(v))
		}
		return commands, nil
	})
	return reply(out, err)
}

// roleOf returns the role whose keys are meant, and how many there are.
func roleOf(v *state.View, host pbs.HostName, role string) (string, uint32, error) {
	roles := map[string]uint32{}
	for id := range v.Identities() {
		if id.Host == host && id.Revoked == 0 && (role == "" || role == id.Role) {
			roles[id.Role]++
		}
	}
	switch len(roles) {
	case 0:
		return "", 0, pbs.Errorf(pbs.InvalidRequest, "revoke %s: no certificate of it is on record that counts", host)
	case 1:
		for r, n := range roles {
			return r, n, nil
		}
	}
	return "", 0, pbs.Errorf(pbs.InvalidRequest, "revoke %s: it has several roles, say which with --role", host)
}

// mayLose refuses to cut off the leader, or a replica without which those that answer are no
// quorum.
func (t *Trust) mayLose(ctx context.Context, host pbs.HostName) error {
	if t.Replica.Status().Self.Name == pbs.ReplicaName(host) {
		return pbs.Errorf(pbs.InvalidRequest, "revoke %s: it leads; hand over first: rampart cluster transfer", host)
	}
	voters, left := 0, 0
	for _, s := range t.Replica.Statuses(ctx) {
		if s.Role == member.Nonvoter {
			continue
		}
		voters++
		if s.Role != member.Unreachable && s.Self.Name != pbs.ReplicaName(host) {
			left++
		}
	}
	if left*2 <= voters {
		return pbs.Errorf(pbs.InvalidRequest, "revoke %s: only %d of %d voters would be left that answer, which is no quorum", host, left, voters)
	}
	return nil
}

// Present puts on record the leaf that a replica has made for itself.
func (t *Trust) Present(ctx context.Context, r *connect.Request[api.PresentRequest]) (*connect.Response[api.PresentReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	second := pbs.Time(time.Second)
	err := t.record(ctx, state.Identity{
		KeyHash: caller.Key, Role: string(caller.Role), Host: caller.Host, Root: r.Msg.GetRoot(), Holds: r.Msg.GetHolds(),
		Renewed: pbs.Time(r.Msg.GetMade()) * second, Expires: pbs.Time(r.Msg.GetExpires()) * second,
	})
	return reply(&api.PresentReply{}, err)
}

// record notes the present leaf of a key.
func (c *base) record(ctx context.Context, id state.Identity) error {
	_, err := c.commit(ctx, pbs.User{}, &command.RenewIdentity{Identity: id})
	return err
}

// News tells a daemon what has changed about the cluster since it enrolled.
func (t *Trust) News(ctx context.Context, r *connect.Request[api.NewsRequest]) (*connect.Response[api.NewsReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	v, err := t.present(ctx)
	if err == nil {
		err = t.noteAddress(ctx, v, caller, r.Msg.GetAddress())
	}
	if err != nil {
		return nil, err
	}
	out := &api.NewsReply{Replicas: replicasOf(v), Roots: v.Cluster().Roots, Signer: signerFor(v, caller.Role), Forgotten: t.forgotten.in(v)}
	if caller.Role != transport.RoleSubmit {
		out.GossipGeneration, out.GossipKeys = v.Cluster().GossipGeneration, v.Cluster().GossipKeys
	}
	if v.Cluster().Revocations > 0 {
		for id := range v.Identities() {
			if id.Revoked != 0 && id.Role == string(transport.RoleReplica) {
				out.RevokedReplicas = append(out.RevokedReplicas, id.KeyHash)
			}
		}
	}
	return connect.NewResponse(out), nil
}

// noteAddress puts on record where a login host moves files of jobs.
func (t *Trust) noteAddress(ctx context.Context, v *state.View, caller transport.Caller, address string) error {
	known, ok := v.Identity(caller.Key)
	if caller.Role != transport.RoleSubmit || address == "" || !ok || known.Address == address {
		return nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil || len(address) > 300 {
		return pbs.Errorf(pbs.InvalidRequest, "the address %.300q is not HOST:PORT", address)
	}
	id := *known
	id.Address = address
	return t.record(ctx, id)
}

// replicasOf tells where the replicas are that may still be talked to.
func replicasOf(v *state.View) []*api.Replica {
	var all []*api.Replica
	for r := range v.Replicas() {
		if v.Cluster().Revocations > 0 && v.Revoked(string(transport.RoleReplica), pbs.HostName(r.Name)) {
			continue
		}
		all = append(all, &api.Replica{
			Name: string(r.Name), ServerId: r.ServerID, Address: r.Address, GossipAddress: r.GossipAddress,
		})
	}
	return all
}

// TurnGossipKey begins to replace the key that encrypts gossip, and tells how far that is.
func (t *Trust) TurnGossipKey(ctx context.Context, r *connect.Request[api.TurnGossipKeyRequest]) (*connect.Response[api.TurnGossipKeyReply], error) {
	v, err := t.managed(ctx)
	if err != nil {
		return nil, err
	}
	if !r.Msg.GetLook() && len(v.Cluster().GossipKeys) == 1 {
		// The id is not the request's: a repeat brings another key, and finds that one is
		// being replaced already.
		caller, _ := transport.CallerFrom(ctx)
		if _, err := t.commit(ctx, caller.User, freshGossipKey(v)); err != nil {
			return nil, fmt.Errorf("turn the gossip key: %w", err)
		}
		if v, err = t.present(ctx); err != nil {
			return nil, err
		}
	}
	out := &api.TurnGossipKeyReply{Generation: v.Cluster().GossipGeneration, Keys: uint32(len(v.Cluster().GossipKeys))}
	if t.GossipBehind != nil {
		out.Waiting = t.GossipBehind()
	}
	return connect.NewResponse(out), nil
}

// freshGossipKey returns the first step of replacing the key.
func freshGossipKey(v *state.View) *command.TurnGossipKeys {
	key := make([]byte, command.GossipKeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return &command.TurnGossipKeys{
		From: v.Cluster().GossipGeneration, Keys: append(slices.Clone(v.Cluster().GossipKeys), key),
	}
}
