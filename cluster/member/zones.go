package member

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/pbs"
)

// fewestVoters is from how many voters on one may fail, and zones matter.
const fewestVoters = 3

// Advise says what is to be done about the replicas as a whole: the loss of one must leave a
// quorum and, when they have zones, that of one zone, too.
func Advise(all []Status) []string {
	zones := make(map[string][]pbs.ReplicaName) // of the voters
	there := make(map[string][]pbs.ReplicaName) // of those that answer
	voters, answer := 0, 0
	var nowhere []pbs.ReplicaName
	for _, s := range all {
		if !s.Voter {
			continue
		}
		voters++
		if s.Answers() {
			answer++
			there[s.Self.Zone] = append(there[s.Self.Zone], s.Self.Name)
		}
		if s.Self.Zone == "" {
			nowhere = append(nowhere, s.Self.Name)
			continue
		}
		zones[s.Self.Zone] = append(zones[s.Self.Zone], s.Self.Name)
	}
	if voters < fewestVoters {
		return fewVoters(voters)
	}
	if len(zones) == 0 {
		return nil
	}
	delete(there, "")
	var advice []string
	if zone := tooMuch(zones, voters, voters); zone != "" {
		advice = append(advice, fmt.Sprintf("zone %s holds %d of %d voters (%s): if it is lost, nothing can be changed any more. "+
			"Let a replica join in another zone, and remove one of these", zone, len(zones[zone]), voters, names(zones[zone])))
	} else if zone := tooMuch(there, answer, voters); zone != "" && answer > voters/2+1 {
		advice = append(advice, fmt.Sprintf("zone %s holds %d of the %d voters that answer, of %d (%s): if it is lost now, nothing can be changed any more. "+
			"Start the others", zone, len(there[zone]), answer, voters, names(there[zone])))
	}
	if len(nowhere) > 0 {
		advice = append(advice, fmt.Sprintf("it is not known in which zone these are: %s. Write \"zone\" into replica.json and start them again", names(nowhere)))
	}
	return advice
}

// fewVoters says what a cluster of one or two bears: one that was recovered from the loss of a
// majority is one, until others join.
func fewVoters(voters int) []string {
	switch voters {
	case 1:
		return []string{"the only voter must not fail: nothing could be changed any more. Let two more replicas join"}
	case 2:
		return []string{"neither of the two voters may fail: nothing could be changed any more. Let another replica join"}
	}
	return nil
}

// tooMuch returns the zone without which those that are there are no quorum of the voters, "" if
// there is none.
func tooMuch(zones map[string][]pbs.ReplicaName, there, voters int) string {
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		if there-len(zones[zone]) < voters/2+1 {
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

// ZoneHolds reports whether the loss of one zone would cost so many voters their quorum; zones
// has the names of those whose zone is known.
func ZoneHolds(zones map[string][]pbs.ReplicaName, voters int) bool {
	return voters >= fewestVoters && tooMuch(zones, voters, voters) != ""
}
