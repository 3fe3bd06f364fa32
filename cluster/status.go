package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

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
	Voter       bool         // as the replica that was asked has it; set by Statuses
	Revoked     bool         // of an unreachable one: its certificate was revoked
	Class       pbs.RTTClass // with whose times it runs
	Wants       pbs.RTTClass // of one that answers: that of the cluster, if it runs with another; set by Statuses
	// ReplacedBy is who takes its place, or whose place it takes: Takes. Set by Statuses.
	ReplacedBy, Takes pbs.ReplicaName
}

// stalled tells whether the replica keeps silent because its store does not answer: it counts
// for nothing in the cluster meanwhile.
func (s *Status) stalled() bool {
	return slices.ContainsFunc(s.Alarms, func(a Alarm) bool { return a.Kind == AlarmStalled })
}

// answers tells whether the replica can take its part in a quorum.
func (s *Status) answers() bool { return s.Role != Unreachable && s.Term > 0 && !s.stalled() }

// statusTimeout bounds how long one replica may take to tell its status.
const statusTimeout = 500 * time.Millisecond

// Status returns what this replica knows of itself. It needs no leader.
func (r *Replica) Status() Status {
	view := r.cfg.Machine.View()
	s := Status{
		Self: r.cfg.Self, Role: Nonvoter, LastContact: r.Age(), Class: r.class,
		Applied: view.Index(), Digest: uint64(view.Digest()), Marks: r.cfg.Machine.Marks(),
	}
	s.Disk = r.store.Disk()
	s.Alarms = r.alarms(s.Disk)
	n := r.node.Load()
	if n == nil {
		return s
	}
	s.Term, s.Commit = n.raft.CurrentTerm(), n.raft.CommitIndex()
	if member, ok := n.server(n.id); ok && member.Suffrage == raft.Voter {
		s.Role, s.Voter = Follower, true
	}
	if n.isLeader() {
		s.Role = Leader
	}
	return s
}

// Statuses asks every member; those that do not answer in time are unreachable. Before
// Raft runs here, the members are those that the disk knows. One that was removed knows of
// nobody but itself: it is not answered any more.
func (r *Replica) Statuses(ctx context.Context) []Status {
	members := r.members.Servers
	if n := r.node.Load(); n != nil {
		members = n.servers()
	}
	if r.gone.Load() != nil {
		members = nil
	}
	if !slices.ContainsFunc(members, func(m raft.Server) bool { return m.ID == r.id }) {
		members = append(slices.Clone(members), raft.Server{ID: r.id, Suffrage: raft.Nonvoter, Address: raft.ServerAddress(r.cfg.Self.Address)})
	}
	all := make([]Status, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			s, err := r.statusOf(ctx, m)
			if err != nil {
				s = r.unreachable(m)
			}
			s.Voter = m.Suffrage == raft.Voter
			r.replacement(&s, string(m.ID))
			r.misfit(&s)
			all[i] = s
		})
	}
	wg.Wait()
	return all
}

// statusOf asks one member. One that answers under another id is not it, but the
// process that took its place.
func (r *Replica) statusOf(ctx context.Context, m raft.Server) (Status, error) {
	if m.ID == r.id {
		return r.Status(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.far(statusTimeout))
	defer cancel()
	s, err := r.cfg.Peers.Status(ctx, string(m.Address))
	if err == nil && s.Self.ServerID != string(m.ID) {
		err = errOtherServer
	}
	return s, err
}

// replacement notes what the state says of a replacement that is under way.
func (r *Replica) replacement(s *Status, id string) {
	for _, x := range r.cfg.Machine.View().Leaving() {
		switch {
		case x.Barred():
		case x.ServerID == id:
			s.ReplacedBy = nameOf(raft.ServerID(x.ReplacedBy))
		case x.ReplacedBy == id:
			s.Takes = x.Name
		}
	}
}

func (r *Replica) unreachable(m raft.Server) Status {
	s, view := Status{Role: Unreachable}, r.cfg.Machine.View()
	if known, ok := view.Replica(nameOf(m.ID)); ok {
		s.Self = *known
	}
	s.Revoked = view.Revoked("replica", pbs.HostName(nameOf(m.ID)))
	s.Self.Name, s.Self.ServerID, s.Self.Address = nameOf(m.ID), string(m.ID), string(m.Address)
	return s
}

// Leader returns the address of the leader, and whether we are it; not ok if none
// is known.
func (r *Replica) Leader() (addr string, self, ok bool) {
	n := r.node.Load()
	if n == nil || n.raft.State() == raft.Leader && n.silenced() {
		return "", false, false
	}
	at, id := n.raft.LeaderWithID()
	return string(at), id == n.id, id != ""
}

// IsLeader tells whether this replica believes to lead.
func (r *Replica) IsLeader() bool {
	n := r.node.Load()
	return n != nil && n.isLeader()
}

// Term returns the present term, 0 before Run.
func (r *Replica) Term() uint64 {
	if n := r.node.Load(); n != nil {
		return n.raft.CurrentTerm()
	}
	return 0
}

// Silent tells whether this replica can neither lead nor hear a leader now, since its store does
// not answer.
func (r *Replica) Silent() bool { return r.silence.kept() }

// Runs tells whether Raft runs here: nothing speaks against this disk, and it may ask
// to become a member.
func (r *Replica) Runs() bool { return r.node.Load() != nil }

// Self returns what this replica announces of itself.
func (r *Replica) Self() state.Replica { return r.cfg.Self }
