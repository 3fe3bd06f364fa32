package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/build"
	"rampart/transport/client"
)

func (s *site) revoke(host, role string) (*api.RevokeCertificateReply, error) {
	reply, err := s.trust().RevokeCertificate(s.t.Context(), connect.NewRequest(&api.RevokeCertificateRequest{Host: host, Role: role}))
	if err != nil {
		return nil, err
	}
	return reply.Msg, nil
}

func (s *site) mustRevoke(host, role string) {
	s.t.Helper()
	if _, err := s.revoke(host, role); err != nil {
		s.t.Fatal(err)
	}
}

func TestRevoke_AMomIsCutOffAndComesBackByANewToken(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	onSite(t, func(t *testing.T, s *site) {
		old := s.token("mom", "hosta")
		s.mustRevoke("hosta", "mom")
		if s.up("hosta") {
			t.Error("its vnodes take jobs")
		}
		<-time.After(time.Minute)
		if s.up("hosta") {
			t.Error("it came back by itself")
		}
		gone := s.client("hosta", "")
		for name, call := range map[string]func(ctx context.Context) error{
			"renew": func(ctx context.Context) error {
				_, err := gone.Cluster().Renew(ctx, connect.NewRequest(&api.RenewRequest{}))
				return err
			},
			"news": func(ctx context.Context) error {
				_, err := gone.Trust().News(ctx, connect.NewRequest(&api.NewsRequest{}))
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if call(ctx) == nil {
				t.Errorf("%s: answered", name)
			}
			cancel()
		}
		s.kill("hosta")
		if err := os.RemoveAll(string(s.home("hosta"))); err != nil {
			t.Fatal(err)
		}
		if err := s.joinMom("hosta", old); err == nil {
			t.Error("an older token lets it in again")
		}
		s.mustJoinMom("hosta", "mom")
		s.until("host that is back", time.Minute, func() bool { return s.up("hosta") })
	})
}

// TestRevoke_CutsTheStreamsOfALoginHost: at every replica, when it has applied it.
func TestRevoke_CutsTheStreamsOfALoginHost(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		replicas := []string{"s1", "s2", "s3"}
		ended := make(chan string, len(replicas))
		for _, name := range replicas {
			c := s.client("login", "ann", s.daemons[name].server.Listen)
			stream, err := c.Batch().Watch(t.Context(), connect.NewRequest(&api.WatchRequest{}))
			if err != nil || !stream.Receive() {
				t.Fatalf("watch at %s: %v", name, err)
			}
			go func() {
				for stream.Receive() {
					continue
				}
				_ = stream.Close()
				ended <- name
			}()
		}
		<-time.After(30 * time.Second)
		if len(ended) > 0 {
			t.Fatalf("%d streams ended by themselves", len(ended))
		}
		began := time.Now()
		s.mustRevoke("login", "submit")
		for n := range replicas {
			select {
			case <-ended:
			case <-time.After(3*time.Second - time.Since(began)):
				t.Fatalf("only %d of the streams have ended", n)
			}
		}
		for _, name := range replicas {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			c := s.client("login", "ann", s.daemons[name].server.Listen)
			if _, err := c.Cluster().Status(ctx, connect.NewRequest(&api.StatusRequest{})); err == nil {
				t.Errorf("%s answers", name)
			}
			cancel()
		}
	})
}

func (s *site) followers() []string {
	var all []string
	for _, name := range s.order {
		if d := s.daemons[name]; d.disk != nil && d.done != nil && d != s.leader() {
			all = append(all, name)
		}
	}
	return all
}

func TestRevoke_AReplicaIsOutOfRaftAndOneIsEnough(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("hours of the bubble are long under the race detector: make test plays them without")
	}
	onSite(t, func(t *testing.T, s *site) {
		if _, err := s.revoke(s.leader().name, ""); err == nil {
			t.Error("the leader was revoked")
		}
		leader, out, other := s.leader().name, s.followers()[0], s.followers()[1]
		admin := s.client(leader, "root", s.daemons[leader].server.Listen)
		_, err := admin.Trust().RevokeCertificate(t.Context(), connect.NewRequest(&api.RevokeCertificateRequest{Host: out}))
		if err != nil {
			t.Fatal(err)
		}
		before := s.daemons[out].machine.View().Index()
		<-time.After(30 * time.Second) // ticks and leases go on
		if n := s.daemons[out].machine.View().Index(); n > before+2 {
			t.Errorf("%s has applied %d entries since", out, n-before)
		}
		if s.leader() == nil || !s.up("hosta") || s.daemons[other].machine.View().Index() < before+2 {
			t.Error("the others do not go on")
		}
		_, err = admin.Trust().RevokeCertificate(t.Context(), connect.NewRequest(&api.RevokeCertificateRequest{Host: other}))
		if pbs.CodeOf(err) != pbs.InvalidRequest {
			t.Errorf("the quorum was revoked: %v", err)
		}
		status, err := admin.Cluster().Status(t.Context(), connect.NewRequest(&api.StatusRequest{}))
		if err != nil || !strings.Contains(status.Msg.String(), "its certificate was revoked") {
			t.Errorf("status: %v, %v", status, err)
		}
		// Moms hear of it with the news: they talk to it no longer.
		news, err := s.client("hosta", "", s.daemons[leader].server.Listen).Trust().News(t.Context(), connect.NewRequest(&api.NewsRequest{}))
		if err != nil || len(news.Msg.GetReplicas()) != 2 || len(news.Msg.GetRevokedReplicas()) != 1 {
			t.Errorf("news %v, %v", news, err)
		}
		// It comes back under its name by a token for it, with a new key and an empty disk.
		s.kill(out)
		again, err := admin.Cluster().CreateToken(t.Context(), connect.NewRequest(&api.CreateTokenRequest{Role: "replica", Host: out}))
		if err != nil {
			t.Fatal(err)
		}
		s.rejoin(out, again.Msg.GetToken(), s.daemons[leader].server.Listen)
		s.until("a replica that is back", 2*time.Minute, s.whole)
	})
}

// gossip tells how far the replacement of the key is.
func (s *site) gossip() *state.Cluster { return s.view().Cluster() }

// TestGossipKey_IsReplacedThoughLeadersDie: one dies in each step, a mom is away for all of
// it, and nobody who is there is ever missed.
func TestGossipKey_IsReplacedThoughLeadersDie(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		old := s.gossip().GossipKeys[0]
		hosta, _ := s.view().Host("hosta")
		s.kill("hostb")
		s.until("a mom that is missed", 2*time.Minute, func() bool { return !s.up("hostb") })
		if _, err := s.trust().TurnGossipKey(t.Context(), connect.NewRequest(&api.TurnGossipKeyRequest{})); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			dead := s.leader().name
			s.kill(dead)
			s.until("another leader", time.Minute, func() bool { return s.leader() != nil })
			s.start(dead)
			s.until("all replicas", 2*time.Minute, func() bool { return s.leader() != nil && s.voters() == 3 })
		}
		s.until("the end of the old key", 5*time.Minute, func() bool {
			return s.leader() != nil && s.gossip().GossipGeneration == 3 && len(s.gossip().GossipKeys) == 1
		})
		fresh := s.gossip().GossipKeys[0]
		if bytes.Equal(old, fresh) {
			t.Fatal("it is the old key")
		}
		s.until("the new key on all disks", 30*time.Second, func() bool {
			for _, path := range []string{s.home("s1").ServerTLS(), s.home("s2").ServerTLS(), s.home("s3").ServerTLS(), s.home("hosta").MomTLS()} {
				if held, err := os.ReadFile(filepath.Join(path, "gossip.key")); err != nil || !bytes.Equal(held, fresh) {
					return false
				}
			}
			return true
		})
		if h, _ := s.view().Host("hosta"); !h.Up || h.Changed != hosta.Changed {
			t.Errorf("hosta was lost: %+v, before %+v", h, hosta)
		}
		if missed := s.log.with("msg=gossip", "member=hosta", "event=gone"); len(missed) > 0 {
			t.Errorf("hosta was not heard: %s", missed)
		}
		s.start("hostb") // with the old key on its disk
		s.until("a mom that was away", time.Minute, func() bool {
			held, err := os.ReadFile(filepath.Join(s.home("hostb").MomTLS(), "gossip.key"))
			return s.up("hostb") && err == nil && bytes.Equal(held, fresh)
		})
	})
}

func (s *site) turnCA(way api.TurnCARequest_Way) (*api.TurnCAReply, error) {
	reply, err := s.trust().TurnCA(s.t.Context(), connect.NewRequest(&api.TurnCARequest{Way: way}))
	if err != nil {
		return nil, err
	}
	return reply.Msg, nil
}

// signers are the CAs that signed the certificates on all disks.
func (s *site) signers() map[string][]string {
	all := map[string][]string{}
	for _, name := range s.order {
		by := s.identity(name).SignedBy()
		all[by] = append(all[by], name)
	}
	return all
}

// TestCA_IsReplacedThoughLeadersDie: both are trusted during the change; a mom that was away
// holds it up until it is back, and at the end nobody believes the old CA any more.
func TestCA_IsReplacedThoughLeadersDie(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	onSite(t, func(t *testing.T, s *site) {
		old, err := transport.Files{Dir: s.home("s1").ServerTLS()}.CA()
		if err != nil {
			t.Fatal(err)
		}
		hosta, _ := s.view().Host("hosta")
		s.kill("hostb")
		if _, err := s.turnCA(api.TurnCARequest_WAY_BEGIN); err != nil {
			t.Fatal(err)
		}
		if _, err := s.turnCA(api.TurnCARequest_WAY_BEGIN); err != nil || len(s.view().Cluster().Roots) != 2 {
			t.Fatalf("begun twice: %v, %d CAs", err, len(s.view().Cluster().Roots))
		}
		for range 2 {
			dead := s.leader().name
			s.kill(dead)
			s.until("another leader", time.Minute, func() bool { return s.leader() != nil })
			s.start(dead)
			s.until("all replicas", 2*time.Minute, func() bool { return s.leader() != nil && s.voters() == 3 })
		}
		s.until("a change that waits for one host", 2*time.Minute, func() bool {
			r, err := s.turnCA(api.TurnCARequest_WAY_LOOK)
			return err == nil && transport.RootStep(r.GetStep()) == transport.RootsLeaves && slices.Equal(r.GetWaiting(), []string{"hostb"})
		})
		if _, err := s.turnCA(api.TurnCARequest_WAY_ABANDON); err == nil {
			t.Error("a CA that has signed was given up")
		}
		s.mustJoinMom("hostc", "mom") // in the middle of it
		s.start("hostb")
		s.until("the end of the old CA", 5*time.Minute, func() bool {
			return s.leader() != nil && s.view().Cluster().RootTurns == 4 && len(s.signers()) == 1
		})
		fresh := transport.RootHash(s.view().Cluster().Roots[0])
		if len(s.signers()[fresh]) != len(s.order) || fresh == transport.RootHash(old.Certificate()) {
			t.Errorf("signed by %v, the new CA is %s", s.signers(), fresh)
		}
		s.until("one CA on all disks", time.Minute, func() bool {
			for _, name := range s.order {
				if roots := s.identity(name).Roots(); transport.RootHash(roots) != fresh {
					return false
				}
			}
			return true
		})
		for _, name := range []string{"s1", "s2", "s3"} {
			ca, err := transport.Files{Dir: s.home(name).ServerTLS()}.CA()
			if err != nil || transport.RootHash(ca.Certificate()) != fresh {
				t.Errorf("the CA of %s: %v", name, err)
			}
			if _, err := os.Stat(filepath.Join(s.home(name).ServerTLS(), "ca-next.key")); !os.IsNotExist(err) {
				t.Errorf("%s keeps a second key: %v", name, err)
			}
		}
		if h, _ := s.view().Host("hosta"); !h.Up || h.Changed != hosta.Changed {
			t.Errorf("hosta was lost: %+v, before %+v", h, hosta)
		}
		s.forged(old)
		for _, name := range s.order { // and all of it from the disks
			s.kill(name)
		}
		for _, name := range s.order {
			s.start(name)
		}
		s.until("a site that is whole", 2*time.Minute, func() bool { return s.leader() != nil && s.whole() })
		s.mustJoinMom("hostd", "mom")
		s.until("a new host", time.Minute, func() bool { return s.up("hostd") })
	})
}

// forged tries what somebody can do who has the key of the old CA.
func (s *site) forged(old *transport.CA) {
	s.t.Helper()
	id, err := old.Issue(transport.RoleReplica, "s1", time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	if err := id.Trust(append(s.identity("s1").Roots(), old.Certificate()...)); err != nil {
		s.t.Fatal(err)
	}
	c := client.New(client.Options{Replicas: s.addresses(), Network: s.daemons["hosta"].host, Identity: id, User: "root", Budget: 5 * time.Second})
	defer c.Close()
	if _, err := c.Cluster().Status(s.t.Context(), connect.NewRequest(&api.StatusRequest{})); err == nil {
		s.t.Error("the old CA is still believed")
	}
}

// TestCA_IsGivenUpOrHurried: a leader that made a CA and died for good takes its key along;
// a host that is away for good holds up the change no longer than an operator lets it.
func TestCA_IsGivenUpOrHurried(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("hours of the bubble are long under the race detector: make test plays them without")
	}
	onSite(t, func(t *testing.T, s *site) {
		before := s.signers()
		s.kill(s.followers()[0]) // nobody goes on without it
		if _, err := s.turnCA(api.TurnCARequest_WAY_BEGIN); err != nil {
			t.Fatal(err)
		}
		if _, err := s.turnCA(api.TurnCARequest_WAY_FINISH); err == nil {
			t.Error("hurried on though a replica lacks the key")
		}
		if _, err := s.turnCA(api.TurnCARequest_WAY_ABANDON); err != nil || len(s.view().Cluster().Roots) != 1 {
			t.Fatalf("given up: %v", err)
		}
		if now := s.signers(); len(now) != 1 || len(before) != 1 {
			t.Errorf("signed by %v", now)
		}
		for _, name := range s.order {
			if s.daemons[name].done == nil {
				s.start(name)
			}
		}
		s.until("all replicas", 2*time.Minute, func() bool { return s.leader() != nil && s.voters() == 3 })
		s.kill("hostb")
		if _, err := s.turnCA(api.TurnCARequest_WAY_BEGIN); err != nil {
			t.Fatal(err)
		}
		s.until("a change that waits for one host", 2*time.Minute, func() bool {
			r, err := s.turnCA(api.TurnCARequest_WAY_LOOK)
			return err == nil && slices.Equal(r.GetWaiting(), []string{"hostb"})
		})
		if _, err := s.turnCA(api.TurnCARequest_WAY_FINISH); err != nil {
			t.Fatal(err)
		}
		s.until("the end of the old CA", 2*time.Minute, func() bool { return s.leader() != nil && len(s.view().Cluster().Roots) == 1 })
		if err := os.RemoveAll(string(s.home("hostb"))); err != nil {
			t.Fatal(err)
		}
		s.mustJoinMom("hostb", "mom")
		s.until("a host that has joined again", time.Minute, func() bool { return s.up("hostb") })
	})
}
