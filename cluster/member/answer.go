package member

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/fsm/pbs"
)

// Lag is how many entries a replica may be behind that is still caught up.
const Lag = 128

// An Answer is what a server of the cluster told of itself, or why it did not.
type Answer struct {
	Server raft.Server
	Status Status
	Err    error
}

func (a Answer) voter() bool { return a.Server.Suffrage == raft.Voter }

// NameOf returns the name of the replica in a ServerID, which is NAME.DISKID.
func NameOf(id raft.ServerID) pbs.ReplicaName {
	name := string(id)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	return pbs.ReplicaName(name)
}

// CaughtUp reports whether the server follows in the term and has applied all that is committed
// but a few entries.
func (a Answer) CaughtUp(term, commit uint64) bool {
	return a.Err == nil && a.Status.Term == term && a.Status.Applied+Lag >= commit
}

// MayRelieve reports whether another server would be a better leader than self, whose disk is bad.
func (a Answer) MayRelieve(self raft.ServerID, commit uint64) bool {
	return a.Err == nil && a.Server.ID != self && a.voter() && a.Status.Role == Follower &&
		a.Status.Disk.Well() && a.Status.Applied+Lag >= commit &&
		!slices.ContainsFunc(a.Status.Alarms, func(a Alarm) bool { return !a.Serves })
}

// Successors returns who may lead after self, the furthest first: to alone, or anybody if that is
// empty.
func Successors(all []Answer, self raft.ServerID, to pbs.ReplicaName) []Answer {
	able := slices.DeleteFunc(slices.Clone(all), func(a Answer) bool {
		return a.Err != nil || a.Status.Stalled() || !a.voter() || a.Server.ID == self || to != "" && NameOf(a.Server.ID) != to
	})
	slices.SortStableFunc(able, func(a, b Answer) int { return cmp.Compare(b.Status.Applied, a.Status.Applied) })
	return able
}

// CommonLevel returns the highest feature level that a build of the level own and all voters know;
// not ok if a voter does not answer: it might come back as the older build that it was.
func CommonLevel(all []Answer, own uint32) (level uint32, ok bool) {
	level = own
	for _, a := range all {
		if !a.voter() {
			continue
		}
		if a.Err != nil {
			return 0, false
		}
		level = min(level, a.Status.Self.FeatureLevel)
	}
	return level, true
}

// ShortOfRoom returns the voters that have little room on their disks, and those that have not even
// the reserve, each if they are so many that the others are no majority.
func ShortOfRoom(all []Answer) (low, spent []string) {
	voters := 0
	for _, a := range all {
		if !a.voter() {
			continue
		}
		voters++
		if a.Err != nil || !a.Status.Disk.Low {
			continue
		}
		low = append(low, string(NameOf(a.Server.ID)))
		if a.Status.Disk.Spent() {
			spent = append(spent, string(NameOf(a.Server.ID)))
		}
	}
	most := voters - (voters/2 + 1) // so many may be without room
	if len(low) <= most {
		low = nil
	}
	if len(spent) <= most {
		spent = nil
	}
	return low, spent
}
