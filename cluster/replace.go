package cluster

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// replaceAfter is how long a voter has to be silent before a newcomer takes its place: a
// machine has had time to boot its daemon again, and a person to restart it.
const replaceAfter = 30 * time.Second

// A roll is what a leader has seen of the members in its term.
type roll struct {
	caughtUp map[raft.ServerID]time.Time // non-voters, since when
	silent   map[raft.ServerID]time.Time // voters, since when
	leaving  map[string]time.Time        // removals that are not done, since when
	said     map[string]time.Time        // what went wrong, and when that was logged
}

// sayAgain is how often a leader repeats what keeps it from looking after the members.
const sayAgain = time.Minute

// news tells whether a failure is to be logged: it is looked at twice a second.
func (k *roll) news(err error, now time.Time) bool {
	maps.DeleteFunc(k.said, func(_ string, at time.Time) bool { return now.Sub(at) >= sayAgain })
	if _, known := k.said[err.Error()]; known {
		return false
	}
	k.said[err.Error()] = now
	return true
}

func newRoll() *roll {
	return &roll{
		caughtUp: make(map[raft.ServerID]time.Time), silent: make(map[raft.ServerID]time.Time), leaving: make(map[string]time.Time),
		said: make(map[string]time.Time),
	}
}

// call notes who answers.
func (k *roll) call(members []member, now time.Time) {
	was := k.silent
	k.silent = make(map[raft.ServerID]time.Time)
	for _, m := range members {
		if m.server.Suffrage != raft.Voter || m.err == nil && m.status.Term > 0 {
			continue
		}
		since, ok := was[m.server.ID]
		if !ok {
			since = now
		}
		k.silent[m.server.ID] = since
	}
}

// dead returns the voter that has been silent for longest of those whose place nobody takes;
// wait is set when one may be back in a moment.
func (k *roll) dead(v *state.View, now time.Time, after time.Duration) (id raft.ServerID, wait bool) {
	var first time.Time
	for s, since := range k.silent {
		if x, ok := v.Removal(string(s)); ok && x.Left == 0 {
			continue
		}
		if id == "" || since.Before(first) || since.Equal(first) && s < id {
			id, first = s, since
		}
	}
	if id != "" && now.Sub(first) < after {
		return "", true
	}
	return id, false
}

// promote gives a newcomer that has caught up a vote. While a voter is silent it waits until
// that is back, or has been silent for so long that the newcomer takes its place: it votes
// first and the dead one is dropped behind it, so that never fewer may fail than before.
func (r *Replica) promote(ctx context.Context, n *node, k *roll, s raft.Server) error {
	v := r.cfg.Machine.View()
	if _, decided := v.Replacing(string(s.ID)); !decided && v.Cluster().FeatureLevel >= command.LevelMembers {
		dead, wait := k.dead(v, time.Now(), r.far(replaceAfter))
		if wait {
			return nil
		}
		if dead != "" {
			r.cfg.Logger.Warn("replacing a replica that is silent", "server", dead, "by", s.ID, "silent", time.Since(k.silent[dead]).Round(time.Second))
			if err := r.decide(ctx, &command.ReplaceReplica{Silent: string(dead), By: string(s.ID)}); err != nil {
				return err
			}
		}
	}
	delete(k.caughtUp, s.ID)
	r.cfg.Logger.Info("promoting", "server", s.ID)
	return n.raft.AddVoter(s.ID, s.Address, 0, changeTimeout).Error()
}

func (r *Replica) decide(ctx context.Context, c command.Command) error {
	if _, err := r.Propose(ctx, command.Proposal{Commands: []command.Command{c}}); err != nil {
		return fmt.Errorf("%s: %w", command.NameOf(c), err)
	}
	return nil
}

// replace carries a replacement on: the silent one is dropped when the newcomer votes, and
// stays when it is heard again or the newcomer is gone.
func (r *Replica) replace(ctx context.Context, n *node, k *roll, x state.Removal) error {
	by, member := n.server(raft.ServerID(x.ReplacedBy))
	_, silent := k.silent[raft.ServerID(x.ServerID)]
	old, counts := n.server(raft.ServerID(x.ServerID))
	switch {
	case !counts: // dropped, by an earlier leader too
		return r.finish(ctx, n, x)
	case !member || !silent && old.Suffrage == raft.Voter:
		r.cfg.Logger.Info("a replica keeps its place", "server", x.ServerID, "heard", !silent)
		return r.decide(ctx, &command.KeepReplica{ServerID: x.ServerID})
	}
	if _, dead := k.silent[by.ID]; dead || by.Suffrage != raft.Voter {
		return nil
	}
	return r.finish(ctx, n, x)
}
