package cluster

import (
	"context"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// Class returns with the times of which class this replica runs. It takes up another one when
// it is started next: Raft cannot change the lease of its leader while it runs.
func (r *Replica) Class() pbs.RTTClass { return r.pace.class }

// keepClass is a duty of the leader: it puts the class with which the cluster was founded into
// the state. Whoever joined was told it.
func (r *Replica) keepClass(ctx context.Context) error {
	c := r.cfg.Machine.View().Cluster()
	if r.cfg.Class == "" || c.RTTClass != "" || c.FeatureLevel < command.LevelMembers {
		return nil
	}
	return r.proposals.decide(ctx, &command.SetRTTClass{Class: r.cfg.Class})
}

// noteClass notes that a replica runs with the times of another class than that of the cluster.
func (r *Replica) noteClass(s *member.Status) {
	wanted := r.cfg.Machine.View().Cluster().RTTClass.OrLan()
	if s.Role != member.Unreachable && s.Class.OrLan() != wanted {
		s.Wants = wanted
	}
}
