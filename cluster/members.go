package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// lookEvery is how often the leader looks after the members.
	lookEvery = 500 * time.Millisecond
	// A non-voter becomes a voter when it was no more than member.Lag entries behind
	// for promoteAfter. A cluster of one or two outlives no loss: there it is enough at
	// two looks, one after the other.
	promoteAfter  = 1500 * time.Millisecond
	promoteSooner = lookEvery * 4 / 5
	// changeTimeout bounds the wait for an earlier change of members.
	changeTimeout = 5 * time.Second
)

// A Member is a replica as Raft has it.
type Member struct {
	Name    pbs.ReplicaName
	Address string
	Voter   bool
	Self    bool
}

// A membership looks after the members: who is taken in, who gets a vote and who takes whose place
// (package member has the rules), what they announce, and what they all know of classes and levels.
type membership struct {
	level    uint32       // that this build knows
	class    pbs.RTTClass // with which the cluster was founded, here; "": it was not
	raft     *localRaft
	machine  viewer
	identity *identity.Record
	pace     pace
	logger   *slog.Logger

	proposals *proposals
	census    *census
	handover  *handover
	removals  *removals
	disk      *diskWatch
}

// add is Replica.AddReplica.
func (m *membership) add(ctx context.Context, joined state.Replica) error {
	n := m.raft.leading()
	if n == nil {
		return fmt.Errorf("add replica %s: %w", joined.Name, ErrNotLeader)
	}
	id, addr := raft.ServerID(joined.ServerID), raft.ServerAddress(joined.Address)
	if member.NameOf(id) != joined.Name || addr == "" {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s at %q is not a server of replica %s", id, addr, joined.Name))
	}
	if m.machine.View().Barred(joined.ServerID) {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s was removed; a new token for its host brings it back, into an empty home", id))
	}
	if by := m.identity.Replaced(joined); by != "" {
		return fmt.Errorf("add replica: %w", pbs.Errorf(pbs.InvalidRequest, "%s has taken the place of %s", by, id))
	}
	for _, s := range n.servers() {
		if member.NameOf(s.ID) == joined.Name && s.ID != id {
			if err := n.raft.RemoveServer(s.ID, 0, changeTimeout).Error(); err != nil {
				return fmt.Errorf("remove %s: %w", s.ID, entryError(err))
			}
		}
	}
	if known, ok := n.server(id); !ok || known.Address != addr {
		if err := n.raft.AddNonvoter(id, addr, 0, changeTimeout).Error(); err != nil {
			return fmt.Errorf("add %s: %w", id, entryError(err))
		}
	}
	known, ok := m.machine.View().Replica(joined.Name)
	if ok && known.ServerID == joined.ServerID && known.Address == joined.Address {
		return nil // what else it announces, the leader asks it for
	}
	joined.Generation, joined.Start = 0, "" // this start may never be: its Raft has not started
	if ok && known.ServerID == joined.ServerID {
		joined.Generation, joined.Start = known.Generation, known.Start
	}
	return m.announce(ctx, joined)
}

// announce puts into the state what a member tells of itself.
func (m *membership) announce(ctx context.Context, of state.Replica) error {
	p := command.Proposal{Commands: []command.Command{&command.PutReplica{Replica: of}}}
	if _, err := m.proposals.propose(ctx, p); err != nil {
		return fmt.Errorf("announce replica %s: %w", of.Name, err)
	}
	return nil
}

// keep is a duty of the leader: what the members announce gets into the
// state, and those that have caught up get a vote.
func (m *membership) keep(ctx context.Context, n *node, term uint64) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	k := member.NewRoll()
	home := member.NewHome(m.machine.View())
	defer m.proposals.naming.release()
	for {
		members := m.census.look(ctx, n)
		k.Call(members, time.Now())
		for _, a := range members {
			if err := m.keepMember(ctx, n, term, a, k); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
				m.logger.Warn("cannot look after a member", "server", a.Server.ID, "err", err)
			}
		}
		if m.proposals.naming.settle(time.Now()) {
			k.Again()
		}
		if err := m.keepDisks(ctx, n, members); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			m.logger.Warn("cannot hand over for the sake of the disk", "err", err)
		}
		if name := m.machine.View().Cluster().Name; home.Due(members, n.id, name, n.raft.CommitIndex(), time.Now()) {
			m.logger.Info("handing over to the replica that the server is named after", "to", name)
			if err := m.handover.transfer(ctx, n, pbs.ReplicaName(name)); err != nil && ctx.Err() == nil {
				m.logger.Warn("cannot hand over to the replica that the server is named after", "err", err)
			}
		}
		if err := m.removals.keep(ctx, n, k); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			m.logger.Warn("cannot remove a replica yet", "err", err)
		}
		if err := m.keepClass(ctx); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			m.logger.Warn("cannot set the class of round-trip times", "err", err)
		}
		if err := m.raiseLevel(ctx, members); err != nil && ctx.Err() == nil && k.News(err, time.Now()) {
			m.logger.Warn("cannot raise the feature level", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// keepDisks hands over for the sake of the disk, or holds writes by the room of the voters.
func (m *membership) keepDisks(ctx context.Context, n *node, members []member.Answer) error {
	if to, ok := m.disk.relief(n, members); ok {
		return m.handover.transfer(ctx, n, to)
	}
	m.disk.holdWrites(members)
	return nil
}

func (m *membership) keepMember(ctx context.Context, n *node, term uint64, a member.Answer, k *member.Roll) error {
	if a.Err != nil {
		k.Forget(a.Server.ID)
		return nil // status and gossip tell of it
	}
	if m.machine.View().Barred(string(a.Server.ID)) {
		return nil // it leaves
	}
	if a.Status.Term == 0 {
		return nil // its Raft has not started, and this start may never have been
	}
	known, ok := m.machine.View().Replica(a.Status.Self.Name)
	if !ok || *known != a.Status.Self {
		if err := m.announce(ctx, a.Status.Self); err != nil {
			return err
		}
	}
	if a.Server.Suffrage == raft.Voter {
		return nil
	}
	enough := promoteAfter
	if len(n.otherVoters()) < 2 {
		enough = promoteSooner
	}
	if !k.Stable(a.Server.ID, a.CaughtUp(term, n.raft.CommitIndex()), time.Now(), enough) {
		return nil
	}
	if !m.hasScripts(n, k, a) {
		return nil
	}
	defer m.proposals.naming.release()
	return m.promote(ctx, n, k, a.Server)
}
