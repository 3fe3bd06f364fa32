package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
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
	Alarms      []string
}

// statusTimeout bounds how long one replica may take to tell its status.
const statusTimeout = 500 * time.Millisecond

// Status returns what this replica knows of itself. It needs no leader.
func (r *Replica) Status() Status {
	view := r.cfg.Machine.View()
	s := Status{
		Self: r.cfg.Self, Role: Nonvoter, LastContact: r.Age(),
		Applied: view.Index(), Digest: uint64(view.Digest()), Marks: r.cfg.Machine.Marks(),
	}
	s.Alarms = r.alarms()
	n := r.node.Load()
	if n == nil {
		return s
	}
	s.Term, s.Commit = n.raft.CurrentTerm(), n.raft.CommitIndex()
	if member, ok := n.server(n.id); ok && member.Suffrage == raft.Voter {
		s.Role = Follower
	}
	if n.isLeader() {
		s.Role = Leader
	}
	return s
}

// alarms are what a person should look at, the worst first.
func (r *Replica) alarms() []string {
	var all []string
	for _, err := range []error{r.guard.failure(), r.cfg.Machine.Err()} {
		if err != nil {
			all = append(all, err.Error())
		}
	}
	for _, what := range []*string{r.split.Load(), r.waiting.Load()} {
		if what != nil {
			all = append(all, *what)
		}
	}
	return all
}

// Statuses asks every member; those that do not answer in time are unreachable.
func (r *Replica) Statuses(ctx context.Context) []Status {
	n := r.node.Load()
	if n == nil {
		return []Status{r.Status()}
	}
	members := n.servers()
	all := make([]Status, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			s, err := r.statusOf(ctx, m)
			if err != nil {
				s = r.unreachable(m)
			}
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
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	s, err := r.cfg.Peers.Status(ctx, string(m.Address))
	if err == nil && s.Self.ServerID != string(m.ID) {
		err = errOtherServer
	}
	return s, err
}

func (r *Replica) unreachable(m raft.Server) Status {
	s := Status{Role: Unreachable}
	if known, ok := r.cfg.Machine.View().Replica(nameOf(m.ID)); ok {
		s.Self = *known
	}
	s.Self.Name, s.Self.ServerID, s.Self.Address = nameOf(m.ID), string(m.ID), string(m.Address)
	return s
}

// Leader returns the address of the leader, and whether we are it; not ok if none
// is known.
func (r *Replica) Leader() (addr string, self, ok bool) {
	n := r.node.Load()
	if n == nil {
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

// Runs tells whether Raft runs here: nothing speaks against this disk, and it may ask
// to become a member.
func (r *Replica) Runs() bool { return r.node.Load() != nil }

// Self returns what this replica announces of itself.
func (r *Replica) Self() state.Replica { return r.cfg.Self }
