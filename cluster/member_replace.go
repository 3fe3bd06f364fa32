package cluster

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// replaceAfter is the time for which a voter has to be silent before a newcomer takes its place: a
// machine has had time to boot its daemon again, and a person to restart it.
const replaceAfter = 30 * time.Second

// promote gives a newcomer that has caught up a vote. While a voter is silent it waits until
// that is back, or has been silent for so long that the newcomer takes its place: it votes
// first and the dead one is dropped behind it, so that never fewer may fail than before.
func (m *membership) promote(ctx context.Context, n *node, k *member.Roll, s raft.Server) error {
	v := m.machine.View()
	if _, decided := v.Replacing(string(s.ID)); !decided {
		dead, wait := k.Dead(v, time.Now(), m.pace.far(replaceAfter))
		if wait {
			return nil
		}
		if dead != "" {
			since, _ := k.Silent(dead)
			m.logger.Warn("replacing a replica that is silent", "server", dead, "by", s.ID, "silent", time.Since(since).Round(time.Second))
			if err := m.proposals.decide(ctx, &command.ReplaceReplica{Silent: string(dead), By: string(s.ID)}); err != nil {
				return err
			}
		}
	}
	k.Forget(s.ID)
	m.logger.Info("promoting", "server", s.ID)
	return n.raft.AddVoter(s.ID, s.Address, 0, changeTimeout).Error()
}

// replace carries a replacement on: the silent one is dropped when the newcomer votes, and
// stays when it is heard again or the newcomer is gone.
func (r *removals) replace(ctx context.Context, n *node, k *member.Roll, x state.Removal) error {
	by, joined := n.server(raft.ServerID(x.ReplacedBy))
	_, silent := k.Silent(raft.ServerID(x.ServerID))
	old, counts := n.server(raft.ServerID(x.ServerID))
	switch {
	case !counts: // dropped, by an earlier leader too
		return r.finish(ctx, n, x)
	case !joined || !silent && old.Suffrage == raft.Voter:
		r.logger.Info("a replica keeps its place", "server", x.ServerID, "heard", !silent)
		return r.proposals.decide(ctx, &command.KeepReplica{ServerID: x.ServerID})
	}
	if _, dead := k.Silent(by.ID); dead || by.Suffrage != raft.Voter {
		return nil
	}
	return r.finish(ctx, n, x)
}
