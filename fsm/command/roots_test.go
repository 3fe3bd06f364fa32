package command

import (
	"testing"

	"rampart/fsm/state"
)

func TestTurnRoots_OneStepAtATime(t *testing.T) {
	w := newTrusting(t)
	a, b, c := []byte("a"), []byte("b"), []byte("c")
	turn := func(from uint64, roots ...[]byte) *TurnRoots { return &TurnRoots{From: from, Roots: roots} }
	refused := func(all map[string]*TurnRoots) {
		t.Helper()
		for name, bad := range all {
			if w.run(bad) == nil {
				t.Errorf("%s: taken", name)
			}
		}
	}
	refused(map[string]*TurnRoots{
		"one": turn(0, a), "none": turn(0), "three": turn(0, a, b, c), "the same": turn(0, a, a), "an empty one": turn(0, a, nil), "a step that was not": turn(1, a, b),
	})
	w.must(turn(0, a, b))
	w.must(turn(1, a)) // given up: its key was lost with the leader that made it
	if cl := w.store.View().Cluster(); cl.RootTurns != RootSteps || len(cl.Roots) != 1 {
		t.Errorf("after %d turns: %q", cl.RootTurns, cl.Roots)
	}
	refused(map[string]*TurnRoots{"another old one": turn(4, c, b)})
	w.must(turn(4, a, b))
	w.must(turn(5, a, b))
	refused(map[string]*TurnRoots{"given up when leaves are signed by it": turn(6, a), "dropped too early": turn(6, b), "a third": turn(6, a, c)})
	w.must(turn(6, a, b))
	refused(map[string]*TurnRoots{"the new one dropped": turn(7, a)})
	w.must(turn(7, b))
	if cl := w.store.View().Cluster(); cl.RootTurns != 2*RootSteps || len(cl.Roots) != 1 || string(cl.Roots[0]) != "b" {
		t.Errorf("after %d turns: %q", cl.RootTurns, cl.Roots)
	}
	w.must(&RenewIdentity{Identity: state.Identity{KeyHash: "key of s1", Role: "replica", Host: "s1", Root: "r", Holds: "h"}})
	if id, _ := w.store.View().Identity("key of s1"); id.Root != "r" || id.Holds != "h" {
		t.Errorf("identity %+v", id)
	}
}
