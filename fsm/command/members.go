package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// removalsKept is how many replicas that have left are remembered: so long a replica that
// was removed is told so when it asks.
const removalsKept = 16

// RemoveReplica is the wish that a replica leaves the cluster for good. It is on record
// before anything is done, so that a later leader can finish it (L8).
type RemoveReplica struct {
	Name pbs.ReplicaName `cbor:"1,keyasint"`
}

// Apply notes the removal. The last replica is refused, and one that nobody knows; one that
// leaves or has left already is no fault.
func (c *RemoveReplica) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	r, ok := tx.Replica(c.Name)
	if !ok {
		return removeReplaced(tx, m, c.Name)
	}
	if old, leaving := tx.Removal(r.ServerID); leaving && old.Left == 0 && old.Barred() {
		return nil
	}
	left := 0
	for other := range tx.Replicas() {
		if x, ok := tx.Removal(other.ServerID); other.Name != c.Name && !(ok && x.Left == 0) {
			left++
		}
	}
	if left == 0 {
		return pbs.Errorf(pbs.InvalidRequest, "remove %s: it is the last replica", c.Name)
	}
	putRemoval(tx, state.Removal{Name: r.Name, ServerID: r.ServerID, At: m.At, By: m.Asker})
	emitTrust(tx, m, pbs.HostName(c.Name), "the replica is being removed")
	return nil
}

// removeReplaced bars a replica whose place was taken while it was silent: it is no member,
// and could be one again.
func removeReplaced(tx *state.Tx, m Meta, name pbs.ReplicaName) error {
	for _, r := range tx.Cluster().Removals {
		if r.Name != name {
			continue
		}
		if !r.Barred() {
			r.ReplacedBy, r.By = "", m.Asker
			putRemoval(tx, r)
			barHost(tx, m, name)
		}
		return nil
	}
	return pbs.Errorf(pbs.InvalidRequest, "remove %s: there is no such replica", name)
}

// ReplicaLeft says that a server that was to leave votes no more and is sent nothing.
type ReplicaLeft struct {
	ServerID string `cbor:"1,keyasint"`
}

// Apply takes the replica off the record. Of one that somebody removed, the certificate is
// revoked in the same step: only a new token for its host brings that back.
func (c *ReplicaLeft) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	r, ok := tx.Removal(c.ServerID)
	switch {
	case !ok:
		return pbs.Errorf(pbs.InvalidRequest, "server %s was not to leave", c.ServerID)
	case r.Left != 0:
		return nil
	}
	r.Left = m.At
	putRemoval(tx, r)
	known, member := tx.Replica(r.Name)
	ours := member && known.ServerID == r.ServerID
	if ours {
		tx.DeleteReplica(r.Name)
	}
	if r.Barred() && (ours || !member) {
		barHost(tx, m, r.Name)
	}
	return nil
}

// barHost revokes what lets a host be a replica.
func barHost(tx *state.Tx, m Meta, name pbs.ReplicaName) {
	host := pbs.HostName(name)
	revokeKeys(tx, replicaRole, host, "", m.At)
	for _, t := range tokensFor(tx, replicaRole, host) {
		tx.DeleteToken(t)
	}
	emitTrust(tx, m, host, "the replica was removed, and its certificate revoked")
}

// putRemoval stores a removal as the latest one. Those under way are never forgotten.
func putRemoval(tx *state.Tx, r state.Removal) {
	kept := []state.Removal{r}
	for _, old := range tx.Cluster().Removals {
		if old.ServerID != r.ServerID && (old.Left == 0 || len(kept) < removalsKept) {
			kept = append(kept, old)
		}
	}
	tx.EditCluster().Removals = slices.Clip(kept)
}

// ReplaceReplica says which newcomer takes the place of a voter that is silent. It is on
// record before the newcomer gets its vote, so that a later leader knows whose it is.
type ReplaceReplica struct {
	Silent string `cbor:"1,keyasint"` // ServerID
	By     string `cbor:"2,keyasint"` // ServerID
}

// Apply notes the replacement, unless one of the two has a part in another removal.
func (c *ReplaceReplica) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	silent, ok := memberOf(tx, c.Silent)
	if !ok {
		return pbs.Errorf(pbs.InvalidRequest, "replace %s: it is no replica", c.Silent)
	}
	if _, ok := memberOf(tx, c.By); !ok || c.By == c.Silent {
		return pbs.Errorf(pbs.InvalidRequest, "replace %s: by %s, which is no other replica", c.Silent, c.By)
	}
	for _, x := range tx.Leaving() {
		if x.ServerID == c.Silent || x.ServerID == c.By || x.ReplacedBy == c.By {
			return pbs.Errorf(pbs.InvalidRequest, "replace %s by %s: %s leaves already", c.Silent, c.By, x.ServerID)
		}
	}
	putRemoval(tx, state.Removal{Name: silent.Name, ServerID: c.Silent, At: m.At, ReplacedBy: c.By})
	return nil
}

func memberOf(tx *state.Tx, serverID string) (*state.Replica, bool) {
	for r := range tx.Replicas() {
		if r.ServerID == serverID && serverID != "" {
			return r, true
		}
	}
	return nil, false
}

// KeepReplica takes a replacement back: the silent one is heard again, or the newcomer gone.
type KeepReplica struct {
	ServerID string `cbor:"1,keyasint"`
}

// Apply forgets the replacement if it was not carried out; it never saves one that somebody
// has removed.
func (c *KeepReplica) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if x, ok := tx.Removal(c.ServerID); !ok || x.Left != 0 || x.Barred() {
		return pbs.Errorf(pbs.InvalidRequest, "keep %s: it is not being replaced", c.ServerID)
	}
	tx.EditCluster().Removals = slices.DeleteFunc(slices.Clone(tx.Cluster().Removals), func(x state.Removal) bool {
		return x.ServerID == c.ServerID
	})
	return nil
}
