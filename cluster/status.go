package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A report is what this replica says of itself. What is wrong is known to those whose alarms it collects.
type report struct {
	self      state.Replica
	class     pbs.RTTClass
	machine   Machine
	store     *store.Store
	raft      *localRaft
	age       func() time.Duration  // since the leader was heard of
	scripts   func() member.Scripts // nil: nobody knows
	others    func() []member.Alarm // of this process; nil: there are none
	silence   *silence
	drift     *drift
	starts    *starts
	disk      *diskWatch
	snapshots *snapshots
}

// status is Replica.Status.
func (r *report) status() member.Status {
	view := r.machine.View()
	s := member.Status{
		Self: r.self, Role: member.Nonvoter, LastContact: r.age(), Class: r.class,
		Applied: view.Index(), Digest: uint64(view.Digest()), Marks: r.machine.Marks(),
	}
	if r.scripts != nil {
		scripts := r.scripts()
		s.Scripts = &scripts
	}
	s.Disk = r.store.Disk()
	s.Alarms = r.alarms(s.Disk)
	n := r.raft.node.Load()
	if n == nil {
		return s
	}
	s.Term, s.Commit = n.raft.CurrentTerm(), n.raft.CommitIndex()
	if own, ok := n.server(n.id); ok && own.Suffrage == raft.Voter {
		s.Role, s.Voter = member.Follower, true
	}
	if n.isLeader() {
		s.Role = member.Leader
	}
	return s
}
