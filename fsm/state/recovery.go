package state

import (
	"slices"

	"rampart/fsm/pbs"
)

// A Recovery is how the cluster went on when a majority of its voters was lost.
type Recovery struct {
	Replica pbs.ReplicaName `cbor:"1,keyasint"`           // whose log was the furthest: all others go by it
	Index   uint64          `cbor:"2,keyasint"`           // of the last entry of that log
	Term    uint64          `cbor:"3,keyasint"`           // of that entry
	Lost    []string        `cbor:"4,keyasint,omitempty"` // servers that somebody named as lost
	Anew    []string        `cbor:"5,keyasint,omitempty"` // servers that answered, and begin with empty stores
	By      pbs.User        `cbor:"6,keyasint,omitempty"` // who asked for it
	At      pbs.Time        `cbor:"7,keyasint,omitempty"` // when the new epoch began
	Epoch   uint64          `cbor:"8,keyasint,omitempty"` // that it began
	Record  uint64          `cbor:"9,keyasint,omitempty"` // number of the last accounting record before it
}

// WentOnWithout reports whether the cluster went on without the server: its log may hold what the
// cluster does not have, and must not be used any more.
func (r *Recovery) WentOnWithout(serverID string) bool {
	return slices.Contains(r.Lost, serverID) || slices.Contains(r.Anew, serverID)
}

// RecoveryWithout returns the latest recovery that went on without the server, nil if none did.
func (t *tables) RecoveryWithout(serverID string) *Recovery {
	all := t.Cluster().Recoveries
	for i := range all {
		if all[i].WentOnWithout(serverID) {
			return &all[i]
		}
	}
	return nil
}
