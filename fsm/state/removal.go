package state

import (
	"slices"

	"rampart/fsm/pbs"
)

// Removal returns what is on record of a server that leaves or has left the cluster.
func (t *tables) Removal(serverID string) (Removal, bool) {
	all := t.Cluster().Removals
	i := slices.IndexFunc(all, func(r Removal) bool { return r.ServerID == serverID })
	if i < 0 {
		return Removal{}, false
	}
	return all[i], true
}

// Barred reports whether somebody has removed the server, or is about to: it must not be a
// member again.
func (t *tables) Barred(serverID string) bool {
	r, ok := t.Removal(serverID)
	return ok && serverID != "" && r.Barred()
}

// Leaving returns the removals that are not done, the latest first.
func (t *tables) Leaving() []Removal {
	return slices.DeleteFunc(slices.Clone(t.Cluster().Removals), func(r Removal) bool { return r.Left != 0 })
}

// Replacing returns the replacement by which the server has, or is to get, the vote of one
// that is silent.
func (t *tables) Replacing(by string) (Removal, bool) {
	for _, r := range t.Leaving() {
		if r.ReplacedBy == by && by != "" {
			return r, true
		}
	}
	return Removal{}, false
}

// A Removal is a replica that leaves the cluster, or has left it.
type Removal struct {
	Name     pbs.ReplicaName `cbor:"1,keyasint"`
	ServerID string          `cbor:"2,keyasint,omitempty"`
	At       pbs.Time        `cbor:"3,keyasint,omitempty"` // when it was decided
	By       pbs.User        `cbor:"4,keyasint,omitempty"` // who asked for it
	// ReplacedBy is the server that takes its place because it was silent; empty: somebody
	// has removed it, and it must not come back.
	ReplacedBy string   `cbor:"5,keyasint,omitempty"`
	Left       pbs.Time `cbor:"6,keyasint,omitempty"` // when it was out; 0: not yet
}

// Barred reports whether the server must not be a member again.
func (r Removal) Barred() bool { return r.ReplacedBy == "" }

// Replica is a member of the cluster as it announced itself.
type Replica struct {
	Name          pbs.ReplicaName `cbor:"1,keyasint"`
	ServerID      string          `cbor:"2,keyasint,omitempty"` // NAME.DISKID
	Address       string          `cbor:"3,keyasint,omitempty"` // HOST:PORT of its TLS port
	GossipAddress string          `cbor:"4,keyasint,omitempty"`
	Host          pbs.HostName    `cbor:"5,keyasint,omitempty"`
	Version       string          `cbor:"6,keyasint,omitempty"`
	FeatureLevel  uint32          `cbor:"7,keyasint,omitempty"`
	Generation    uint64          `cbor:"8,keyasint,omitempty"`  // how often its store was started
	Start         string          `cbor:"9,keyasint,omitempty"`  // token of that start: copies of a store count alike
	Zone          string          `cbor:"10,keyasint,omitempty"` // failure domain; empty: none is set
	Build         string          `cbor:"11,keyasint,omitempty"` // version of Rampart; Version is the version of PBS
}
