package cluster

import (
	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

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
