package member

import (
	"slices"
	"time"

	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Role is what a replica is in the cluster, as `rampart cluster status` tells it.
type Role string

// The roles.
const (
	Leader      Role = "leader"
	Follower    Role = "follower" // candidates too
	Nonvoter    Role = "nonvoter" // joined and not yet caught up, or removed
	Unreachable Role = "unreachable"
)

// Status is what a replica knows of itself.
type Status struct {
	Self        state.Replica // what it announces; of an unreachable one, what the state knows
	Role        Role
	Term        uint64
	Commit      uint64
	Applied     uint64         // of the state itself
	Digest      uint64         // of the state at Applied
	LastContact time.Duration  // since it heard of a leader; 0 at the leader
	Marks       []command.Mark // digests noted, to be compared
	Disk        store.Disk
	Alarms      []Alarm      // the worst first
	Voter       bool         // as the replica that was asked has it; set by who asked
	Revoked     bool         // of an unreachable one: its certificate was revoked
	Class       pbs.RTTClass // with whose times it runs
	Wants       pbs.RTTClass // of one that answers: that of the cluster, if it runs with another; set by who asked
	Scripts     *Scripts     // what it saw when it last looked for large scripts; nil: its version does not say
	// ReplacedBy is who takes its place, or whose place it takes: Takes. Set by who asked.
	ReplacedBy, Takes pbs.ReplicaName
}

// Scripts is what a replica saw when it last compared the large scripts of jobs with its disk.
type Scripts struct {
	Index   uint64 // of the state that it looked at; 0: it has not looked yet
	Missing int    // that others have
}

// Whole reports whether all scripts that the state named at an index were there.
func (s *Scripts) Whole(index uint64) bool { return s == nil || s.Index >= index && s.Missing == 0 }

// Stalled reports whether the replica keeps silent because its store does not answer: it counts
// for nothing in the cluster meanwhile.
func (s *Status) Stalled() bool {
	return slices.ContainsFunc(s.Alarms, func(a Alarm) bool { return a.Kind == AlarmStalled })
}

// Answers reports whether the replica can take its part in a quorum.
func (s *Status) Answers() bool { return s.Role != Unreachable && s.Term > 0 && !s.Stalled() }
