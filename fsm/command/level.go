package command

import (
	"errors"
	"reflect"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// FeatureLevel is the highest level of kinds, fields and meanings that this build
// knows. What a level added is proposed only when the state is at that level.
const FeatureLevel uint32 = 3

// LevelTrust is the feature level from which keys and leaves are kept on record, keys and
// tokens can be revoked, and the gossip key can be replaced.
const LevelTrust uint32 = 2

// LevelMembers is the feature level from which replicas carry zones and can be removed, a
// class of round-trip time is in the state, and a state can be put back from a snapshot.
const LevelMembers uint32 = 3

// LevelObjects is the feature level from which jobs can be arrays, wait for each other and
// for a time, and carry files; it came with LevelMembers.
const LevelObjects uint32 = 3

// LevelHosts is the feature level from which jobs can run on several hosts; it came with
// LevelMembers.
const LevelHosts uint32 = 3

// firstKinds are the first kinds of the feature levels that brought any. What comes before
// them, every build knows.
var firstKinds = []struct {
	kind  Kind
	level uint32
}{
	{32, LevelTrust},
	{37, LevelMembers},
}

// LevelOf returns the feature level that brought the kind of a command.
func LevelOf(c Command) (level uint32) {
	kind := numbers[reflect.TypeOf(c)]
	for _, f := range firstKinds {
		if kind >= f.kind {
			level = f.level
		}
	}
	return level
}

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
