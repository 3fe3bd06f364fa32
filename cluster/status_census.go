package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
)

// statusTimeout bounds how long one replica may take to tell its status.
const statusTimeout = 500 * time.Millisecond

var errOtherServer = errors.New("another server answers at this address")

// A census asks all members how they do.
type census struct {
	address string // of this replica
	raft    *localRaft
	machine viewer
	peers   Peers
	pace    pace
	own     func() member.Status
	removed func() bool // reports whether this replica was
}

// statuses asks every member; those that do not answer in time are unreachable. Before
// Raft runs here, the members are those that the disk knows. One that was removed knows of
// nobody but itself: it is not answered any more.
func (c *census) statuses(ctx context.Context) []member.Status {
	members := c.raft.servers()
	if c.removed() {
		members = nil
	}
	if !slices.ContainsFunc(members, func(m raft.Server) bool { return m.ID == c.raft.id }) {
		members = append(slices.Clone(members), raft.Server{ID: c.raft.id, Suffrage: raft.Nonvoter, Address: raft.ServerAddress(c.address)})
	}
	all := make([]member.Status, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			s, err := c.statusOf(ctx, m)
			if err != nil {
				s = c.unreachable(m)
			}
			s.Voter = m.Suffrage == raft.Voter
			c.replacement(&s, string(m.ID))
			c.noteClass(&s)
			all[i] = s
		})
	}
	wg.Wait()
	return all
}

// statusOf asks one member. One that answers under another id is not it, but the
// process that took its place.
func (c *census) statusOf(ctx context.Context, m raft.Server) (member.Status, error) {
	if m.ID == c.raft.id {
		return c.own(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.pace.far(statusTimeout))
	defer cancel()
	s, err := c.peers.Status(ctx, string(m.Address))
	if err == nil && s.Self.ServerID != string(m.ID) {
		err = errOtherServer
	}
	return s, err
}

// replacement notes what the state says of a replacement that is under way.
func (c *census) replacement(s *member.Status, id string) {
	for _, x := range c.machine.View().Leaving() {
		switch {
		case x.Barred():
		case x.ServerID == id:
			s.ReplacedBy = member.NameOf(raft.ServerID(x.ReplacedBy))
		case x.ReplacedBy == id:
			s.Takes = x.Name
		}
	}
}

func (c *census) unreachable(m raft.Server) member.Status {
	s, view := member.Status{Role: member.Unreachable}, c.machine.View()
	if known, ok := view.Replica(member.NameOf(m.ID)); ok {
		s.Self = *known
	}
	s.Revoked = view.Revoked("replica", pbs.HostName(member.NameOf(m.ID)))
	s.Self.Name, s.Self.ServerID, s.Self.Address = member.NameOf(m.ID), string(m.ID), string(m.Address)
	return s
}

// look asks all members how they do.
func (c *census) look(ctx context.Context, n *node) []member.Answer {
	servers := n.servers()
	all := make([]member.Answer, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			status, err := c.statusOf(ctx, s)
			all[i] = member.Answer{Server: s, Status: status, Err: err}
		})
	}
	wg.Wait()
	return all
}

// noteClass notes that a replica runs with the times of another class than that of the cluster.
func (c *census) noteClass(s *member.Status) {
	wanted := c.machine.View().Cluster().RTTClass.OrLan()
	if s.Role != member.Unreachable && s.Class.OrLan() != wanted {
		s.Wants = wanted
	}
}
