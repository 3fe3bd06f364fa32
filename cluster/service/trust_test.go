package service

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// trustBench is a bench at the level of trust, with a mom on record.
func trustBench(t *testing.T) (b *bench, csrOfMom []byte) {
	b = newBench(t)
	csrOfMom = csr(t)
	b.mustJoin("mom", "hosta", csrOfMom)
	return b, csrOfMom
}

func (b *bench) mustJoin(role, host string, req []byte) {
	b.t.Helper()
	token := b.token(&api.CreateTokenRequest{Role: role, Host: host})
	if _, err := b.Cluster.Join(b.t.Context(), request(&api.JoinRequest{Token: token, Host: host, Csr: req}, "")); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) boss() context.Context { return b.as("root@replica:s1") }

func (b *bench) tokens() []*api.TokenInfo {
	b.t.Helper()
	r, err := b.Trust.ListTokens(b.boss(), request(&api.ListTokensRequest{}, ""))
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Msg.GetTokens()
}

func TestTokens_ListedAndRevoked(t *testing.T) {
	b, _ := trustBench(t)
	text := b.token(&api.CreateTokenRequest{Role: "mom", Host: "hostb", TtlSeconds: 60})
	again := b.token(&api.CreateTokenRequest{Role: "submit", Reusable: true})
	list := b.tokens() // that of hosta is used up
	if len(list) != 2 || list[0].GetHost() != "hostb" || list[0].GetCreated() == 0 || !list[1].GetReusable() {
		t.Fatalf("tokens %v", list)
	}
	for _, tok := range list {
		if strings.Contains(text+again, tok.GetId()) {
			t.Error("the list holds a secret")
		}
	}
	revoke := func(text string) error {
		_, err := b.Trust.RevokeToken(b.boss(), request(&api.RevokeTokenRequest{Token: text}, ""))
		return err
	}
	for _, bad := range []string{"", "abc", "ffffffffffff", transport.NewToken(b.Cluster.CA, transport.RoleMom).String()} {
		if pbs.CodeOf(revoke(bad)) != pbs.BadToken {
			t.Errorf("%q was taken", bad)
		}
	}
	if err := revoke(text); err != nil {
		t.Error(err)
	}
	if err := revoke(list[1].GetId()[:8]); err != nil {
		t.Error(err)
	}
	if _, err := b.Cluster.Join(t.Context(), request(&api.JoinRequest{Token: text, Host: "hostb", Csr: csr(t)}, "")); pbs.CodeOf(err) != pbs.BadToken {
		t.Errorf("join with a revoked token: %v", err)
	}
	if len(b.tokens()) != 0 {
		t.Errorf("tokens are left: %v", b.tokens())
	}
}

func TestRevokeCertificate(t *testing.T) {
	b, mine := trustBench(t)
	key, _ := transport.CSRKeyHash(mine)
	revoke := func(who context.Context, host, role string) (*api.RevokeCertificateReply, error) {
		r, err := b.Trust.RevokeCertificate(who, request(&api.RevokeCertificateRequest{Host: host, Role: role}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	b.mustJoin("submit", "hosta", csr(t))
	for name, c := range map[string]struct {
		who        context.Context
		host, role string
		want       pbs.Code
	}{
		"by a user":       {b.as("ann@hosta"), "hosta", "mom", pbs.Unauthorized},
		"an unknown host": {b.boss(), "hostx", "", pbs.InvalidRequest},
		"which role":      {b.boss(), "hosta", "", pbs.InvalidRequest},
		"another role":    {b.boss(), "hosta", "replica", pbs.InvalidRequest},
	} {
		if _, err := revoke(c.who, c.host, c.role); pbs.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := revoke(b.boss(), "hosta", "mom")
	if err != nil || got.GetKeys() != 1 || !got.GetGossipTurning() {
		t.Fatalf("revoked: %v, %v", got, err)
	}
	if keys := b.store.View().Cluster().GossipKeys; len(keys) != 2 {
		t.Errorf("%d gossip keys", len(keys))
	}
	caller := transport.Caller{Role: transport.RoleMom, Host: "hosta", Key: key}
	if _, err := b.Cluster.Renew(transport.WithCaller(t.Context(), caller), request(&api.RenewRequest{Csr: mine}, "")); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("it renews: %v", err)
	}
	list, err := b.Trust.ListCertificates(b.boss(), request(&api.ListCertificatesRequest{}, ""))
	if err != nil || len(list.Msg.GetCertificates()) != 2 {
		t.Fatalf("certificates %v, %v", list, err)
	}
	mom, submit := list.Msg.GetCertificates()[0], list.Msg.GetCertificates()[1]
	if mom.GetRole() != "mom" || mom.GetRevoked() == 0 || mom.GetKey() != key || submit.GetRevoked() != 0 || submit.GetExpires() == 0 {
		t.Errorf("certificates %v and %v", mom, submit)
	}
	if got, err := revoke(b.boss(), "hosta", "submit"); err != nil || got.GetGossipTurning() || got.GetGossipPending() {
		t.Errorf("a host that knows no gossip key: %v, %v", got, err)
	}
	b.mustJoin("mom", "hosta", csr(t)) // by a new token
}

// A renewal is on record, with the end of the leaf; so is a leaf that a replica made itself.
func TestRenew_IsOnRecord(t *testing.T) {
	b, mine := trustBench(t)
	key, _ := transport.CSRKeyHash(mine)
	before, _ := b.store.View().Identity(key)
	caller := transport.Caller{Role: transport.RoleMom, Host: "hosta", Key: key, Expired: true}
	if _, err := b.Cluster.Renew(transport.WithCaller(t.Context(), caller), request(&api.RenewRequest{Csr: mine}, "")); err != nil {
		t.Fatal(err)
	}
	if id, _ := b.store.View().Identity(key); id.Renewed <= before.Renewed || id.Expires < id.Renewed+pbs.Time(6*24*time.Hour) {
		t.Errorf("before %+v, after %+v", before, id)
	}
	replica := transport.WithCaller(t.Context(), transport.Caller{Role: transport.RoleReplica, Host: "s1", Key: "k1"})
	if _, err := b.Trust.Present(replica, request(&api.PresentRequest{Made: 100, Expires: 200}, "")); err != nil {
		t.Fatal(err)
	}
	if id, ok := b.store.View().Identity("k1"); !ok || id.Renewed != pbs.Time(100*time.Second) || id.Expires != pbs.Time(200*time.Second) {
		t.Errorf("replica's identity %+v", id)
	}
	stranger := transport.WithCaller(t.Context(), transport.Caller{Role: transport.RoleMom, Host: "hostx", Key: "k2"})
	if _, err := b.Trust.Present(stranger, request(&api.PresentRequest{}, "")); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("a mom that never enrolled: %v", err)
	}
}

func TestNews(t *testing.T) {
	b, _ := trustBench(t)
	b.do(&command.PutReplica{Replica: state.Replica{Name: "s2"}}, &command.PutReplica{Replica: state.Replica{Name: "s3"}},
		&command.RenewIdentity{Identity: state.Identity{KeyHash: "k3", Role: "replica", Host: "s3"}},
		&command.RevokeIdentity{Role: "replica", Host: "s3"})
	for range 2 { // the second time, one is being replaced already
		r, err := b.Trust.TurnGossipKey(b.boss(), request(&api.TurnGossipKeyRequest{}, ""))
		if err != nil || r.Msg.GetKeys() != 2 || r.Msg.GetGeneration() != 1 {
			t.Errorf("turn the gossip key: %v, %v", r, err)
		}
	}
	news := func(role transport.Role) *api.NewsReply {
		t.Helper()
		r, err := b.Trust.News(transport.WithCaller(t.Context(), transport.Caller{Role: role, Host: "h"}), request(&api.NewsRequest{}, ""))
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg
	}
	mom, submit := news(transport.RoleMom), news(transport.RoleSubmit)
	if len(mom.GetReplicas()) != 2 || !slices.Equal(mom.GetRevokedReplicas(), []string{"k3"}) || len(mom.GetGossipKeys()) != 2 {
		t.Errorf("news of a mom: %v", mom)
	}
	if len(submit.GetGossipKeys()) != 0 || len(submit.GetReplicas()) != 2 {
		t.Errorf("news of a login host: %v", submit)
	}
}
