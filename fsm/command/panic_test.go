package command

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// TestRun_PanicIsTheSameOnEveryReplica (L4): the other proposals of the entry take
// effect, a repeat of the one that failed is told the same, and the states agree.
func TestRun_PanicIsTheSameOnEveryReplica(t *testing.T) {
	id := pbs.RequestID("01a31896-4000-7000-8000-000000000001")
	first, ok := id.Made()
	if !ok {
		t.Fatal("no time in the id")
	}
	replica := func() (*state.View, []Outcome) {
		s := state.NewStore()
		e := Entry{Time: first, Proposals: []Proposal{
			{Commands: []Command{&InitCluster{ID: "c", Name: "srv"}}},
			{ID: id, Commands: []Command{&PutReplica{Replica: state.Replica{Name: "half"}}, &panics{}}},
			{Commands: []Command{&PutReplica{Replica: state.Replica{Name: "whole"}}}},
		}}
		out, _ := Run(s, 7, 1, e)
		again, _ := Run(s, 8, 1, Entry{Time: first, Proposals: e.Proposals[1:2]})
		return s.Publish(), append(out, again...)
	}
	a, out := replica()
	b, _ := replica()
	if a.Digest() != b.Digest() {
		t.Error("the states differ")
	}
	if _, ok := a.Replica("half"); ok {
		t.Error("the proposal was not rolled back")
	}
	if _, ok := a.Replica("whole"); !ok {
		t.Error("the next proposal of the entry did not take effect")
	}
	if pbs.CodeOf(out[1].Err()) != pbs.SystemError || pbs.CodeOf(out[3].Err()) != pbs.SystemError || !out[3].Repeated {
		t.Errorf("outcome %+v, of the repeat %+v", out[1], out[3])
	}
	if f := a.Cluster().Faults; len(f) != 1 || f[0].Index != 7 {
		t.Errorf("faults %v", f)
	}
}

// A request that is no younger than one whose outcome was forgotten early is refused: it may
// be that one again (L8).
func TestRun_RefusesWhatMayHaveBeenForgotten(t *testing.T) {
	id := pbs.RequestID("01a31896-4000-7000-8000-000000000001")
	made, _ := id.Made()
	s := state.NewStore()
	s.Begin(1, 1, made)
	tx := s.Tx()
	tx.EditCluster().RequestFloor = made + 1
	s.Commit(tx)
	younger := pbs.RequestID("01a31896-4001-7000-8000-000000000001")
	out, _ := Run(s, 2, 1, Entry{Time: made, Proposals: []Proposal{
		{ID: id, Commands: []Command{&InitCluster{ID: "c", Name: "srv"}}},
		{ID: younger, Commands: []Command{&InitCluster{ID: "c", Name: "srv"}}},
	}})
	if pbs.CodeOf(out[0].Err()) != pbs.ExpiredRequest || out[1].Err() != nil {
		t.Errorf("as old: %v; younger: %v", out[0].Err(), out[1].Err())
	}
}
