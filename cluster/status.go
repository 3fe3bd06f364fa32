package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// statusTimeout bounds how long one replica may take to tell its status.
const statusTimeout = 500 * time.Millisecond

// Status returns what this replica knows of itself. It needs no leader.
func (r *Replica) Status() member.Status {
	view := r.cfg.Machine.View()
	s := member.Status{
		Self: r.cfg.Self, Role: member.Nonvoter, LastContact: r.reads.age(), Class: r.pace.class,
		Applied: view.Index(), Digest: uint64(view.Digest()), Marks: r.cfg.Machine.Marks(),
	}
	if r.cfg.Scripts != nil {
		scripts := r.cfg.Scripts()
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

// Statuses asks every member; those that do not answer in time are unreachable. Before
// Raft runs here, the members are those that the disk knows. One that was removed knows of
// nobody but itself: it is not answered any more.
func (r *Replica) Statuses(ctx context.Context) []member.Status {
	members := r.raft.servers()
	if r.starts.gone.Load() != nil {
		members = nil
	}
	if !slices.ContainsFunc(members, func(m raft.Server) bool { return m.ID == r.id }) {
		members = append(slices.Clone(members), raft.Server{ID: r.id, Suffrage: raft.Nonvoter, Address: raft.ServerAddress(r.cfg.Self.Address)})
	}
	all := make([]member.Status, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			s, err := r.statusOf(ctx, m)
			if err != nil {
				s = r.unreachable(m)
			}
			s.Voter = m.Suffrage == raft.Voter
			r.replacement(&s, string(m.ID))
			r.noteClass(&s)
			all[i] = s
		})
	}
	wg.Wait()
	return all
}

// statusOf asks one member. One that answers under another id is not it, but the
// process that took its place.
func (r *Replica) statusOf(ctx context.Context, m raft.Server) (member.Status, error) {
	if m.ID == r.id {
		return r.Status(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.pace.far(statusTimeout))
	defer cancel()
	s, err := r.cfg.Peers.Status(ctx, string(m.Address))
	if err == nil && s.Self.ServerID != string(m.ID) {
		err = errOtherServer
	}
	return s, err
}

// replacement notes what the state says of a replacement that is under way.
func (r *Replica) replacement(s *member.Status, id string) {
	for _, x := range r.cfg.Machine.View().Leaving() {
		switch {
		case x.Barred():
		case x.ServerID == id:
			s.ReplacedBy = member.NameOf(raft.ServerID(x.ReplacedBy))
		case x.ReplacedBy == id:
			s.Takes = x.Name
		}
	}
}

func (r *Replica) unreachable(m raft.Server) member.Status {
	s, view := member.Status{Role: member.Unreachable}, r.cfg.Machine.View()
	if known, ok := view.Replica(member.NameOf(m.ID)); ok {
		s.Self = *known
	}
	s.Revoked = view.Revoked("replica", pbs.HostName(member.NameOf(m.ID)))
	s.Self.Name, s.Self.ServerID, s.Self.Address = member.NameOf(m.ID), string(m.ID), string(m.Address)
	return s
}

// Leader returns the address of the leader, and whether we are it; not ok if none
// is known.
func (r *Replica) Leader() (addr string, self, ok bool) { return r.raft.leader() }

// IsLeader reports whether this replica believes to lead.
func (r *Replica) IsLeader() bool { return r.raft.leading() != nil }

// Term returns the present term, 0 before Run.
func (r *Replica) Term() uint64 { return r.raft.term() }

// Silent reports whether this replica can neither lead nor hear a leader now, since its store does
// not answer.
func (r *Replica) Silent() bool { return r.silence.kept() }

// Runs reports whether Raft runs here: nothing speaks against this disk, and it may ask
// to become a member.
func (r *Replica) Runs() bool { return r.raft.node.Load() != nil }

// Self returns what this replica announces of itself.
func (r *Replica) Self() state.Replica { return r.cfg.Self }
