package command

import (
	"errors"
	"reflect"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// FeatureLevel is the highest level of kinds, fields and meanings that this build
// knows. What a level added is proposed only when the state is at that level.
const FeatureLevel uint32 = 2

// LevelExercise is the one feature level above the first. It brought Exercise and nothing else: rolling upgrades, and builds that are too old
// for their cluster, are tried with it until there is a level that brings something.
const LevelExercise uint32 = 2

// Exercise changes nothing. Builds of the first feature level do not know it.
type Exercise struct{}

// Apply changes nothing.
func (*Exercise) Apply(*state.Tx, Meta, *state.Result) error { return nil }

// levels are the feature levels of the kinds that came after the first one.
var levels = map[Kind]uint32{
	numbers[reflect.TypeFor[*Exercise]()]: LevelExercise,
}

// LevelOf returns the feature level that brought the kind of a command: 1 if every build knows it.
func LevelOf(c Command) uint32 { return max(1, levels[numbers[reflect.TypeOf(c)]]) }

// Level returns the feature level of the oldest builds that know every command of the entry.
func (e Entry) Level() (level uint32) {
	for i := range e.Proposals {
		for _, c := range e.Proposals[i].Commands {
			level = max(level, LevelOf(c))
		}
	}
	return level
}

var (
	// ErrTooOld means that the log or a snapshot holds what this build does not know:
	// to skip it would be to drift from the replicas that know it (L4).
	ErrTooOld = errors.New("this build is too old for the cluster")

	// ErrDiffers means that the state of this replica differs from that of a majority
	// at the same index. It must not serve it, and is to be installed anew.
	ErrDiffers = errors.New("the state differs from that of the majority")
)

// RaiseLevel raises the feature level of the cluster. The leader proposes it when
// every voter reports that its build knows the level; no older one may run after it.
type RaiseLevel struct {
	Level uint32 `cbor:"1,keyasint"`
}

// Apply raises the level; it is never lowered.
func (c *RaiseLevel) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if level := tx.Cluster().FeatureLevel; c.Level <= level {
		return pbs.Errorf(pbs.InvalidRequest, "the feature level is %d already", level)
	}
	tx.EditCluster().FeatureLevel = c.Level
	return nil
}
