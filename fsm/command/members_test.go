package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// newMembers is a cluster of three replicas at the level at which they can be removed.
func newMembers(t *testing.T) *trusting {
	w := newTrusting(t)
	for _, name := range []pbs.ReplicaName{"s1", "s2", "s3"} {
		w.must(&PutReplica{Replica: state.Replica{Name: name, ServerID: string(name) + ".a", Host: pbs.HostName(name)}})
	}
	return w
}

func TestRemoveReplica_OffTheRecordAndRevokedInOneStep(t *testing.T) {
	w := newMembers(t)
	w.token("for s3", "replica", "s3")
	w.must(&RemoveReplica{Name: "s3"})
	v := w.store.View()
	if _, ok := v.Replica("s3"); !ok || v.Revoked("replica", "s3") || len(v.Leaving()) != 1 {
		t.Error("it is out before it has left")
	}
	w.must(&RemoveReplica{Name: "s3"}) // once more
	if n := len(w.store.View().Leaving()); n != 1 {
		t.Errorf("%d leave", n)
	}
	for range 2 {
		w.must(&ReplicaLeft{ServerID: "s3.a"})
	}
	v = w.store.View()
	if _, ok := v.Replica("s3"); ok || !v.Revoked("replica", "s3") || len(v.Leaving()) != 0 || !v.Barred("s3.a") {
		t.Errorf("removals %+v", v.Cluster().Removals)
	}
	if _, ok := v.Token("for s3"); ok {
		t.Error("its old token is good")
	}
	w.must(&RemoveReplica{Name: "s3"}) // it is gone, and stays so
	if err := w.run(&PutReplica{Replica: state.Replica{Name: "s3", ServerID: "s3.a"}}); err == nil {
		t.Error("it came back by itself")
	}
	w.token("new", "replica", "s3")
	w.must(w.enrolment("new", "replica", "s3", "its new key"))
	w.must(&PutReplica{Replica: state.Replica{Name: "s3", ServerID: "s3.b"}})
	w.must(&ReplicaLeft{ServerID: "s3.a"}) // late
	if r, ok := w.store.View().Replica("s3"); !ok || r.ServerID != "s3.b" || w.store.View().Revoked("replica", "s3") {
		t.Errorf("the newcomer under its name: %+v", r)
	}
}

func TestRemoveReplica_NotTheLastNorAStranger(t *testing.T) {
	w := newMembers(t)
	if err := w.run(&RemoveReplica{Name: "s9"}); err == nil || !strings.Contains(err.Error(), "no such replica") {
		t.Errorf("a stranger: %v", err)
	}
	w.must(&RemoveReplica{Name: "s3"})
	w.must(&RemoveReplica{Name: "s2"})
	if err := w.run(&RemoveReplica{Name: "s1"}); err == nil || !strings.Contains(err.Error(), "last replica") {
		t.Errorf("the last one: %v", err)
	}
	if w.run(&ReplicaLeft{ServerID: "s1.a"}) == nil {
		t.Error("one left that was not to leave")
	}
}

// What is under way is remembered, however many have left.
func TestRemoveReplica_RemembersSome(t *testing.T) {
	w := newMembers(t)
	w.must(&RemoveReplica{Name: "s2"})
	for i := range removalsKept + 3 {
		id := "x." + string(rune('a'+i))
		w.must(&PutReplica{Replica: state.Replica{Name: "x", ServerID: id}})
		w.must(&RemoveReplica{Name: "x"})
		w.must(&ReplicaLeft{ServerID: id})
	}
	v := w.store.View()
	if n := len(v.Cluster().Removals); n != removalsKept+1 || len(v.Leaving()) != 1 || v.Leaving()[0].Name != "s2" {
		t.Errorf("%d removals, %+v under way", n, v.Leaving())
	}
}

func TestReplaceReplica_OneForOneAndTakenBack(t *testing.T) {
	w := newMembers(t)
	w.must(&PutReplica{Replica: state.Replica{Name: "s4", ServerID: "s4.a"}})
	w.must(&PutReplica{Replica: state.Replica{Name: "s5", ServerID: "s5.a"}})
	w.must(&ReplaceReplica{Silent: "s3.a", By: "s4.a"})
	for name, c := range map[string]Command{
		"one for two":         &ReplaceReplica{Silent: "s2.a", By: "s4.a"},
		"two for one":         &ReplaceReplica{Silent: "s3.a", By: "s5.a"},
		"by one that leaves":  &ReplaceReplica{Silent: "s5.a", By: "s3.a"},
		"by a stranger":       &ReplaceReplica{Silent: "s2.a", By: "s9.a"},
		"a stranger":          &ReplaceReplica{Silent: "s9.a", By: "s5.a"},
		"by itself":           &ReplaceReplica{Silent: "s2.a", By: "s2.a"},
		"keep one that stays": &KeepReplica{ServerID: "s2.a"},
	} {
		if w.run(c) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	w.must(&KeepReplica{ServerID: "s3.a"})
	w.must(&ReplaceReplica{Silent: "s3.a", By: "s5.a"})
	w.must(&ReplicaLeft{ServerID: "s3.a"})
	v := w.store.View()
	if _, ok := v.Replica("s3"); ok || v.Revoked("replica", "s3") || v.Barred("s3.a") || len(v.Leaving()) != 0 {
		t.Errorf("removals %+v", v.Cluster().Removals)
	}
	w.must(&PutReplica{Replica: state.Replica{Name: "s3", ServerID: "s3.a"}}) // it is back
	w.must(&RemoveReplica{Name: "s3"})
	if w.run(&KeepReplica{ServerID: "s3.a"}) == nil {
		t.Error("one that somebody removed was kept")
	}
	w.must(&ReplicaLeft{ServerID: "s3.a"})
	if !w.store.View().Revoked("replica", "s3") {
		t.Error("it is not revoked")
	}
}

// One that was replaced while it was silent has a certificate that counts: it can be removed
// all the same.
func TestRemoveReplica_OneThatWasReplaced(t *testing.T) {
	w := newMembers(t)
	w.must(&ReplaceReplica{Silent: "s3.a", By: "s2.a"})
	w.must(&ReplicaLeft{ServerID: "s3.a"})
	w.must(&RemoveReplica{Name: "s3"})
	if v := w.store.View(); !v.Revoked("replica", "s3") || !v.Barred("s3.a") {
		t.Errorf("removals %+v", v.Cluster().Removals)
	}
}
