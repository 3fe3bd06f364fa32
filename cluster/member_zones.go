package cluster

import (
	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// announced returns what may be put into the state of what a replica announces: a replica of an
// earlier version would not know its zone.
func (m *membership) announced(self state.Replica) state.Replica {
	if m.machine.View().Cluster().FeatureLevel < command.LevelMembers {
		self.Zone = ""
	}
	return self
}

// zoneHolds reports, as the state knows it, whether the loss of one zone would cost the quorum.
func zoneHolds(view *state.View, voters []raft.Server) bool {
	zones := make(map[string][]pbs.ReplicaName)
	for _, s := range voters {
		if known, ok := view.Replica(member.NameOf(s.ID)); ok && known.Zone != "" {
			zones[known.Zone] = append(zones[known.Zone], known.Name)
		}
	}
	return member.ZoneHolds(zones, len(voters))
}
