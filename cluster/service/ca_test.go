package service

import (
	"slices"
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// keyring is a replica's keys of CAs.
type keyring struct{ old, fresh *transport.CA }

func (k keyring) Make() ([][]byte, error) {
	return [][]byte{k.old.Certificate(), k.fresh.Certificate()}, nil
}

func (k keyring) Key(hash string) (*transport.CA, bool) {
	return k.fresh, hash == transport.RootHash(k.fresh.Certificate())
}

func TestTurnCA_WaitsForThoseWhoMustFollow(t *testing.T) {
	b, _ := trustBench(t)
	b.do(&command.PutReplica{Replica: state.Replica{Name: "s2", Host: "s2host"}})
	ring := keyring{}
	for _, ca := range []**transport.CA{&ring.old, &ring.fresh} {
		made, err := transport.NewCA("c1", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		*ca = made
	}
	b.Trust.Keys = ring
	fresh := transport.RootHash(ring.fresh.Certificate())
	turn := func(way api.TurnCARequest_Way) (*api.TurnCAReply, error) {
		r, err := b.Trust.TurnCA(b.boss(), request(&api.TurnCARequest{Way: way}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	waits := func(step transport.RootStep, names ...string) {
		t.Helper()
		r, err := turn(api.TurnCARequest_WAY_LOOK)
		if err != nil || transport.RootStep(r.GetStep()) != step || !slices.Equal(r.GetWaiting(), names) {
			t.Errorf("%v, %v; want step %d, waiting for %v", r, err, step, names)
		}
		if next := NextRoots(b.store.View()); (next == nil) != (len(names) > 0 || step == transport.RootsSettled) {
			t.Errorf("the next step is %v", next)
		}
	}
	replica := func(name, root, holds string) {
		b.do(&command.RenewIdentity{Identity: state.Identity{KeyHash: "k" + name, Role: "replica", Host: pbs.HostName(name), Root: root, Holds: holds}})
	}
	replica("s1", "old", "")
	replica("s2", "old", "")
	waits(transport.RootsSettled)
	for range 2 { // the second time it is under way
		if _, err := turn(api.TurnCARequest_WAY_BEGIN); err != nil {
			t.Fatal(err)
		}
	}
	waits(transport.RootsLearned, "s1", "s2")
	if _, err := turn(api.TurnCARequest_WAY_FINISH); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("hurried on without the key: %v", err)
	}
	replica("s1", "old", fresh)
	waits(transport.RootsLearned, "s2")
	replica("s2", "old", fresh)
	waits(transport.RootsLearned)
	b.do(NextRoots(b.store.View()))
	waits(transport.RootsLeaves, "hosta")
	if got := signerFor(b.store.View(), transport.RoleMom); got != fresh {
		t.Errorf("for moms signs %s", got)
	}
	if got := signerFor(b.store.View(), transport.RoleReplica); got == fresh {
		t.Error("replicas would show a certificate that hosts that were away do not trust")
	}
	if _, err := turn(api.TurnCARequest_WAY_ABANDON); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("given up: %v", err)
	}
	if _, err := turn(api.TurnCARequest_WAY_FINISH); err != nil {
		t.Fatal(err)
	}
	waits(transport.RootsAll, "s1", "s2")
	b.do(&command.RevokeIdentity{Role: "mom", Host: "hosta"})
	replica("s1", fresh, fresh)
	replica("s2", fresh, fresh)
	waits(transport.RootsAll)
	b.do(NextRoots(b.store.View()))
	waits(transport.RootsSettled)

	for name, c := range map[string]struct {
		caller transport.Caller
		hash   string
		want   pbs.Code
	}{
		"a replica":                   {transport.Caller{Role: transport.RoleReplica, Host: "s1", Key: "ks1"}, fresh, 0},
		"another CA":                  {transport.Caller{Role: transport.RoleReplica, Host: "s1", Key: "ks1"}, "x", pbs.InvalidRequest},
		"a replica that is not known": {transport.Caller{Role: transport.RoleReplica, Host: "s1", Key: "forged"}, fresh, pbs.Unauthorized},
		"a replica by another's key":  {transport.Caller{Role: transport.RoleReplica, Host: "s3", Key: "ks1"}, fresh, pbs.Unauthorized},
	} {
		key, err := b.Trust.KeyOfCA(transport.WithCaller(t.Context(), c.caller), request(&api.KeyOfCARequest{Hash: c.hash}, ""))
		if pbs.CodeOf(err) != c.want || c.want == 0 && len(key.Msg.GetKey()) == 0 {
			t.Errorf("key of the CA for %s: %v", name, err)
		}
	}
	if _, err := b.Trust.TurnCA(b.as("ann@hosta"), request(&api.TurnCARequest{Way: api.TurnCARequest_WAY_BEGIN}, "")); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("begun by a user: %v", err)
	}
	if rule, _ := transport.RuleOf("/rampart.v1.Trust/KeyOfCA"); rule.For != transport.ForReplicas {
		t.Error("others than replicas may have the key of the CA")
	}
}
