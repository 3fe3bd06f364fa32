package fsm_test

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"rampart/fsm"
	"rampart/fsm/command"
)

func entry(t *testing.T, index uint64, c command.Command) *raft.Log {
	t.Helper()
	data, err := command.Encode(command.Entry{Time: 1_800_000_000_000_000_000, Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
	if err != nil {
		t.Fatal(err)
	}
	return &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data}
}

// A machine that passes for an older build stops at a command that such a build does not
// know, and applies nothing more (L4): who proposes it too early is found out.
func TestStop_AtKindsOfALaterLevel(t *testing.T) {
	for level, stops := range map[uint32]bool{command.LevelExercise - 1: true, command.LevelExercise: false} {
		f := fsm.New(fsm.Options{Check: true, FeatureLevel: level})
		f.Apply(entry(t, 1, &command.InitCluster{ID: "c", Name: "srv", Epoch: 1}))
		f.Apply(entry(t, 2, &command.Exercise{}))
		f.Apply(entry(t, 3, &command.TimeTick{}))
		if got := errors.Is(f.Err(), command.ErrTooOld); got != stops || stops && f.View().Index() != 1 {
			t.Errorf("level %d: stopped %t at %d by %v, want %t", level, got, f.View().Index(), f.Err(), stops)
		}
	}
}

// Every command is known to the builds of its level; none needs one that there is not.
func TestLevelOf_NoCommandIsAboveThisBuild(t *testing.T) {
	for c, want := range map[command.Command]uint32{
		new(command.SubmitJob): 1, new(command.RaiseLevel): 1, new(command.StopForLoad): 1, new(command.Exercise): command.LevelExercise,
	} {
		if got := command.LevelOf(c); got != want || got > command.FeatureLevel {
			t.Errorf("%T is of level %d, want %d", c, got, want)
		}
	}
}
