package command

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// trusting is a cluster of three replicas, a mom and a login host, at the level at which
// keys can be revoked.
type trusting struct {
	t     *testing.T
	store *state.Store
	index uint64
}

func newTrusting(t *testing.T) *trusting {
	w := &trusting{t: t, store: state.NewStore()}
	w.must(&InitCluster{ID: "c", Name: "srv", GossipKey: gossipKey(1)})
	for _, name := range []string{"s1", "s2", "s3"} {
		w.must(&PutReplica{Replica: state.Replica{Name: pbs.ReplicaName(name), Host: pbs.HostName(name)}})
		w.must(&RenewIdentity{Identity: state.Identity{KeyHash: "key of " + name, Role: "replica", Host: pbs.HostName(name), Expires: 500}})
	}
	w.enrol("mom", "hosta", "key of hosta")
	w.enrol("submit", "login", "key of login")
	w.must(&HostUp{Host: "hosta", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "hosta"}}})
	return w
}

func gossipKey(b byte) []byte { return slices.Repeat([]byte{b}, GossipKeySize) }

func (w *trusting) run(c Command) error {
	w.index++
	out, _ := Run(w.store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{c}}}})
	if err := w.store.Publish().Check(); err != nil {
		w.t.Error(err)
	}
	return out[0].Err()
}

func (w *trusting) must(c Command) {
	w.t.Helper()
	if err := w.run(c); err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
}

func (w *trusting) token(hash, role string, host pbs.HostName) {
	w.t.Helper()
	w.must(&CreateToken{Token: state.Token{Hash: hash, Role: role, Host: host, Expires: 1000}})
}

func (w *trusting) enrol(role string, host pbs.HostName, key string) {
	w.t.Helper()
	w.token(key, role, host)
	w.must(w.enrolment(key, role, host, key))
}

func (w *trusting) enrolment(token, role string, host pbs.HostName, key string) *Enrol {
	return &Enrol{TokenHash: token, Identity: state.Identity{KeyHash: key, Role: role, Host: host}}
}

func TestRevokeIdentity_OnlyANewTokenBringsTheHostBack(t *testing.T) {
	w := newTrusting(t)
	w.token("for the host", "mom", "hosta")
	w.token("for any host", "mom", "")
	w.must(&RevokeIdentity{Role: "mom", Host: "hosta"})
	v := w.store.View()
	if id, _ := v.Identity("key of hosta"); id.Revoked == 0 || v.Cluster().Revocations != 1 || !v.Revoked("mom", "hosta") {
		t.Errorf("identity %+v after %d revocations", id, v.Cluster().Revocations)
	}
	if h, _ := v.Host("hosta"); h.Up {
		t.Error("the host is up")
	}
	for name, c := range map[string]Command{
		"an older token of its own": w.enrolment("for the host", "mom", "hosta", "k2"),
		"an older token for any":    w.enrolment("for any host", "mom", "hosta", "k2"),
		"its old token":             w.enrolment("key of hosta", "mom", "hosta", "key of hosta"),
		"its old key":               &RenewIdentity{Identity: state.Identity{KeyHash: "key of hosta", Role: "mom", Host: "hosta"}},
		"once more":                 &RevokeIdentity{Role: "mom", Host: "hosta"},
	} {
		if w.run(c) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	w.token("new", "mom", "hosta")
	if w.run(w.enrolment("new", "mom", "hosta", "key of hosta")) == nil {
		t.Error("a key that was revoked came back")
	}
	w.must(w.enrolment("new", "mom", "hosta", "k3"))
	if w.store.View().Revoked("mom", "hosta") {
		t.Error("the host is still revoked")
	}
	w.must(&RenewIdentity{Identity: state.Identity{KeyHash: "k3", Role: "mom", Host: "hosta", Expires: 900}})
}

func TestEnrol_TheNewKeyTakesThePlaceOfTheOld(t *testing.T) {
	w := newTrusting(t)
	w.token("again", "mom", "hosta")
	for range 2 { // the answer may have been lost
		w.must(w.enrolment("again", "mom", "hosta", "k2"))
	}
	v := w.store.View()
	old, _ := v.Identity("key of hosta")
	now, _ := v.Identity("k2")
	if old.Revoked == 0 || now.Revoked != 0 || v.Revoked("mom", "hosta") || v.Cluster().Revocations != 1 {
		t.Errorf("old %+v, new %+v", old, now)
	}
	w.token("any replica", "replica", "")
	if pbs.CodeOf(w.run(w.enrolment("any replica", "replica", "s2", "k9"))) != pbs.BadToken {
		t.Error("a stranger took the name of a replica")
	}
	w.must(w.enrolment("any replica", "replica", "s4", "k9"))
}

func TestRevokeIdentity_KeepsAQuorum(t *testing.T) {
	w := newTrusting(t)
	w.must(&RevokeIdentity{Role: "replica", Host: "s3"})
	if err := w.run(&RevokeIdentity{Role: "replica", Host: "s2"}); err == nil || !strings.Contains(err.Error(), "no quorum") {
		t.Errorf("two of three: %v", err)
	}
	one := &trusting{t: t, store: state.NewStore()}
	one.must(&InitCluster{ID: "c", Name: "srv"})
	one.must(&PutReplica{Replica: state.Replica{Name: "s1"}})
	one.must(&RenewIdentity{Identity: state.Identity{KeyHash: "k", Role: "replica", Host: "s1"}})
	if err := one.run(&RevokeIdentity{Role: "replica", Host: "s1"}); err == nil || !strings.Contains(err.Error(), "last replica") {
		t.Errorf("the last one: %v", err)
	}
}

func TestRenewIdentity_OnlyOfKeysOnRecord(t *testing.T) {
	w := newTrusting(t)
	for name, id := range map[string]state.Identity{
		"a mom that never enrolled": {KeyHash: "k", Role: "mom", Host: "hostb"},
		"the key of another role":   {KeyHash: "key of hosta", Role: "replica", Host: "hosta"},
		"the key of another host":   {KeyHash: "key of hosta", Role: "mom", Host: "hostb"},
	} {
		if pbs.CodeOf(w.run(&RenewIdentity{Identity: id})) != pbs.Unauthorized {
			t.Errorf("%s: taken", name)
		}
	}
	w.must(&RenewIdentity{Identity: state.Identity{KeyHash: "key of login", Role: "submit", Host: "login", Expires: 700, Renewed: 3}})
	if id, _ := w.store.View().Identity("key of login"); id.Expires != 700 || id.Renewed != 3 || id.Created == 0 {
		t.Errorf("identity %+v", id)
	}
	w.must(&RevokeIdentity{Role: "replica", Host: "s3"})
	own := func(host pbs.HostName) error {
		return w.run(&RenewIdentity{Identity: state.Identity{KeyHash: "made by " + string(host), Role: "replica", Host: host}})
	}
	if own("s3") == nil || own("s2") == nil || own("s4") == nil {
		t.Error("a replica put a key of its own making on record")
	}
	w.must(&PutReplica{Replica: state.Replica{Name: "s4"}})
	w.must(&TurnRoots{Roots: [][]byte{{1}, {2}}})
	if own("s4") == nil {
		t.Error("a key was put on record while the CA is replaced")
	}
	w.must(&TurnRoots{From: 1, Roots: [][]byte{{1}}})
	if err := own("s4"); err != nil {
		t.Errorf("a member that has no key on record: %v", err)
	}
}

func TestRevokeToken(t *testing.T) {
	w := newTrusting(t)
	w.token("x", "mom", "")
	w.must(&RevokeToken{Hash: "x"})
	if pbs.CodeOf(w.run(w.enrolment("x", "mom", "hostb", "k"))) != pbs.BadToken {
		t.Error("it lets in")
	}
	if pbs.CodeOf(w.run(&RevokeToken{Hash: "x"})) != pbs.BadToken {
		t.Error("it was revoked twice")
	}
	w.token("y", "mom", "")
	w.index = 2000
	w.must(&TimeTick{})
	if _, ok := w.store.View().Token("y"); ok {
		t.Error("an expired token stays")
	}
}

// Who is cut off while the key is replaced knows the new one: it is to be replaced once more.
func TestTurnGossipKeys_CutOffMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name, role, host string
		turning, again   bool
	}{
		{"a mom", "mom", "hosta", true, true},
		{"a replica", "replica", "s3", true, true},
		{"a login host, which does not gossip", "submit", "login", true, false},
		{"a mom at rest", "mom", "hosta", false, false},
	} {
		w := newTrusting(t)
		a, b := gossipKey(1), gossipKey(2)
		if c.turning {
			w.must(&TurnGossipKeys{From: 0, Keys: [][]byte{a, b}})
		}
		w.must(&RevokeIdentity{Role: c.role, Host: pbs.HostName(c.host)})
		if got := w.store.View().Cluster().GossipAgain; got != c.again {
			t.Errorf("%s: again is %v", c.name, got)
		}
		if !c.again {
			continue
		}
		w.must(&TurnGossipKeys{From: 1, Keys: [][]byte{b, a}})
		w.must(&TurnGossipKeys{From: 2, Keys: [][]byte{b}})
		if !w.store.View().Cluster().GossipAgain {
			t.Errorf("%s: forgotten with the old key", c.name)
		}
		w.must(&TurnGossipKeys{From: 3, Keys: [][]byte{b, gossipKey(3)}})
		if w.store.View().Cluster().GossipAgain {
			t.Errorf("%s: for ever", c.name)
		}
	}
}

func TestTurnGossipKeys_OneStepAtATime(t *testing.T) {
	w := newTrusting(t)
	a, b, c := gossipKey(1), gossipKey(2), gossipKey(3)
	steps := func(from uint64, keys ...[]byte) *TurnGossipKeys { return &TurnGossipKeys{From: from, Keys: keys} }
	for name, bad := range map[string]*TurnGossipKeys{
		"another at once": steps(0, b), "the new one first": steps(0, b, a), "none": steps(0), "twice the same": steps(0, a, a),
		"a short one": steps(0, a, b[:15]), "another generation": steps(1, a, b),
	} {
		if w.run(bad) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	w.must(steps(0, a, b))
	for name, bad := range map[string]*TurnGossipKeys{
		"the same step": steps(0, a, b), "a third": steps(1, a, b, c), "another second": steps(1, a, c), "without the step between": steps(1, b),
	} {
		if w.run(bad) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	w.must(steps(1, b, a))
	w.must(steps(2, b))
	if cl := w.store.View().Cluster(); cl.GossipGeneration != 3 || len(cl.GossipKeys) != 1 || cl.GossipKeys[0][0] != 2 {
		t.Errorf("generation %d", cl.GossipGeneration)
	}
	w.must(steps(3, b, c))
	if w.run(steps(4, b)) == nil {
		t.Error("the new key was dropped, which some use")
	}
}
