package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// announced is what of a replica's word may be put into the state: a replica of an earlier
// version would not know its zone.
func (r *Replica) announced(self state.Replica) state.Replica {
	if r.cfg.Machine.View().Cluster().FeatureLevel < command.LevelMembers {
		self.Zone = ""
	}
	return self
}

// fewestVoters is from how many voters on zones matter: of two, the loss of any is too much.
const fewestVoters = 3

// Advise says what is to be done about the replicas as a whole: when they have zones, the
// loss of one zone must leave a quorum.
func Advise(all []Status) []string {
	zones := make(map[string][]pbs.ReplicaName) // of the voters
	voters := 0
	var nowhere []pbs.ReplicaName
	for _, s := range all {
		if !s.Voter {
			continue
		}
		voters++
		if s.Self.Zone == "" {
			nowhere = append(nowhere, s.Self.Name)
			continue
		}
		zones[s.Self.Zone] = append(zones[s.Self.Zone], s.Self.Name)
	}
	if voters < fewestVoters || len(zones) == 0 {
		return nil
	}
	var advice []string
	if zone := tooMuch(zones, voters); zone != "" {
		advice = append(advice, fmt.Sprintf("zone %s holds %d of %d voters (%s): if it is lost, nothing can be changed any more. "+
			"Let a replica join in another zone, and remove one of these", zone, len(zones[zone]), voters, names(zones[zone])))
	}
	if len(nowhere) > 0 {
		advice = append(advice, fmt.Sprintf("it is not known in which zone these are: %s. Write \"zone\" into replica.json and start them again", names(nowhere)))
	}
	return advice
}

// tooMuch returns the zone without which the voters are no quorum, "" if there is none.
func tooMuch(zones map[string][]pbs.ReplicaName, voters int) string {
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		if voters-len(zones[zone]) < voters/2+1 {
			return zone
		}
	}
	return ""
}

func names(all []pbs.ReplicaName) string {
	text := make([]string, len(all))
	for i, n := range all {
		text[i] = string(n)
	}
	slices.SortFunc(text, cmp.Compare[string])
	return strings.Join(text, ", ")
}

// zoneHolds tells, as this replica knows it, whether the loss of one zone would cost the quorum.
func (r *Replica) zoneHolds(voters []raft.Server) bool {
	zones, view := make(map[string][]pbs.ReplicaName), r.cfg.Machine.View()
	for _, s := range voters {
		if known, ok := view.Replica(nameOf(s.ID)); ok && known.Zone != "" {
			zones[known.Zone] = append(zones[known.Zone], known.Name)
		}
	}
	return len(voters) >= fewestVoters && tooMuch(zones, len(voters)) != ""
}
