package command

import (
	"cmp"
	"fmt"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// RevokeToken makes an enrolment token worthless. Hosts that have used it stay.
type RevokeToken struct {
	Hash string `cbor:"1,keyasint"`
}

// Apply forgets the token.
func (c *RevokeToken) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	t, ok := tx.Token(c.Hash)
	if !ok {
		return pbs.Refuse(pbs.BadToken)
	}
	tx.DeleteToken(c.Hash)
	emitTrust(tx, m, t.Host, "a token for role "+t.Role+" was revoked")
	return nil
}

// RenewIdentity puts the present leaf of a key on record. The first replica never enrolled:
// the key of a member that has none on record is taken, but not while the CA is replaced, since
// a replica on record is given the new one's key.
type RenewIdentity struct {
	Identity state.Identity `cbor:"1,keyasint"`
}

// Apply notes the leaf. A key that was revoked, or is of another host or role, is refused.
func (c *RenewIdentity) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	news := c.Identity
	known, ok := tx.Identity(news.KeyHash)
	switch {
	case ok && (known.Role != news.Role || known.Host != news.Host || known.Revoked != 0),
		!ok && !firstKey(tx, &news):
		return pbs.Refuse(pbs.Unauthorized)
	case !ok:
		known = &state.Identity{KeyHash: news.KeyHash, Role: news.Role, Host: news.Host, Created: m.At}
	}
	next := *known
	next.Renewed, next.Expires = cmp.Or(news.Renewed, m.At), news.Expires
	next.Root, next.Holds = news.Root, news.Holds
	next.Address = cmp.Or(news.Address, known.Address)
	tx.PutIdentity(&next)
	return nil
}

// firstKey reports whether the key may be put on record without enrolment.
func firstKey(tx *state.Tx, id *state.Identity) bool {
	_, member := tx.Replica(pbs.ReplicaName(id.Host))
	if id.Role != replicaRole || !member || tx.Cluster().RootTurns%RootSteps != 0 {
		return false
	}
	for other := range tx.Identities() {
		if other.Role == id.Role && other.Host == id.Host {
			return false
		}
	}
	return true
}

// RevokeIdentity takes a host's place in a role from it: none of its keys counts any more,
// and it needs a new token to come back.
type RevokeIdentity struct {
	Role string       `cbor:"1,keyasint"`
	Host pbs.HostName `cbor:"2,keyasint"`
}

// Apply revokes every key that the host has in the role, and the tokens that were made for
// it; a mom's host is down from now on. What would leave the replicas without a quorum is
// refused.
func (c *RevokeIdentity) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Role == replicaRole {
		if err := keepsQuorum(tx, pbs.ReplicaName(c.Host)); err != nil {
			return err
		}
	}
	if revokeKeys(tx, c.Role, c.Host, "", m.At) == 0 {
		return pbs.Errorf(pbs.InvalidRequest, "revoke %s: it has no certificate of role %s that counts", c.Host, c.Role)
	}
	for _, t := range tokensFor(tx, c.Role, c.Host) {
		tx.DeleteToken(t)
	}
	emitTrust(tx, m, c.Host, "the certificate of role "+c.Role+" was revoked")
	if _, ok := tx.Host(c.Host); ok && c.Role == momRole {
		down := HostDown{Host: c.Host, Reason: "its certificate was revoked"}
		return down.Apply(tx, m, &state.Result{})
	}
	return nil
}

const momRole = "mom"

// revokeKeys revokes the keys of a host in a role, but for one, and counts them.
func revokeKeys(tx *state.Tx, role string, host pbs.HostName, but string, at pbs.Time) int {
	var keys []*state.Identity
	for id := range tx.Identities() {
		if id.Role == role && id.Host == host && id.KeyHash != but && id.Revoked == 0 {
			keys = append(keys, id)
		}
	}
	for _, id := range keys {
		next := *id
		next.Revoked = at
		tx.PutIdentity(&next)
	}
	if len(keys) == 0 {
		return 0
	}
	c := tx.EditCluster()
	c.Revocations++
	if but == "" && (role == replicaRole || role == momRole) && len(c.GossipKeys) > 1 {
		c.GossipAgain = true
	}
	return len(keys)
}

func tokensFor(tx *state.Tx, role string, host pbs.HostName) []string {
	var all []string
	for t := range tx.Tokens() {
		if t.Role == role && t.Host == host {
			all = append(all, t.Hash)
		}
	}
	return all
}

// keepsQuorum refuses to cut off a replica when those that are left could not agree: one
// that was cut off still counts as a member.
func keepsQuorum(tx *state.Tx, without pbs.ReplicaName) error {
	members, left := 0, 0
	for r := range tx.Replicas() {
		members++
		if r.Name != without && !tx.Revoked(replicaRole, pbs.HostName(r.Name)) {
			left++
		}
	}
	switch {
	case left == 0:
		return pbs.Errorf(pbs.InvalidRequest, "revoke %s: it is the last replica", without)
	case left*2 <= members:
		return pbs.Errorf(pbs.InvalidRequest, "revoke %s: %d of %d replicas would be left, which is no quorum", without, left, members)
	}
	return nil
}

func emitTrust(tx *state.Tx, m Meta, host pbs.HostName, text string) {
	object := string(host)
	if object == "" {
		object = "trust"
	}
	if m.Asker.Name != "" {
		text = fmt.Sprintf("%s by %s", text, m.Asker)
	}
	tx.Emit(state.Event{Kind: state.TrustChanged, Object: object, By: m.Asker, Text: text})
}
