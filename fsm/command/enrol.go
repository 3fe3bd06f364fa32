package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// CreateToken lets a host enrol.
type CreateToken struct {
	Token state.Token `cbor:"1,keyasint"`
}

// Apply stores the token.
func (c *CreateToken) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Token.Hash == "" || c.Token.Expires <= m.At {
		return pbs.Errorf(pbs.InvalidRequest, "create token: it needs a secret and a time to live")
	}
	t := c.Token
	t.Created = m.At
	tx.PutToken(&t)
	return nil
}

// Enrol turns a token into an identity on record.
type Enrol struct {
	TokenHash string         `cbor:"1,keyasint"`
	Identity  state.Identity `cbor:"2,keyasint"`
}

// Apply uses the token up and notes the key. A token that is unknown, expired, used,
// or of another host or role is refused with BadToken; so is the name of a host that is
// in the cluster already, unless the token was made for it: whoever takes a host's name
// vouches for its users, and root of a replica's host manages the cluster. A host that was
// revoked needs a token that was made since, and a new key. The new key takes the place of
// those that the host had in the role.
func (c *Enrol) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	t, ok := tx.Token(c.TokenHash)
	if !ok || t.Expires < m.At || t.Role != c.Identity.Role || (t.Host != "" && t.Host != c.Identity.Host) {
		return pbs.Refuse(pbs.BadToken)
	}
	known, again := tx.Identity(c.Identity.KeyHash)
	if t.Used && !t.Reusable && !(again && known.Host == c.Identity.Host && known.Role == c.Identity.Role) {
		return pbs.Refuse(pbs.BadToken)
	}
	if t.Host == "" && taken(tx, &c.Identity) {
		return pbs.Errorf(pbs.BadToken, "%s is in the cluster already: create a token for it alone, with --host %s",
			c.Identity.Host, c.Identity.Host)
	}
	if t.Created <= revokedAt(tx, &c.Identity) || again && known.Revoked != 0 {
		return pbs.Errorf(pbs.BadToken, "%s was revoked: create a new token for it, and join with a new key", c.Identity.Host)
	}
	next := *t
	next.Used = true
	tx.PutToken(&next)
	id := c.Identity
	id.Created, id.Submit = m.At, t.Submit
	id.Renewed = m.At
	revokeKeys(tx, id.Role, id.Host, id.KeyHash, m.At)
	tx.PutIdentity(&id)
	return nil
}

// revokedAt returns when the host lost its place in the role, as long as it has none again; a time
// before all others if it never did.
func revokedAt(tx *state.Tx, of *state.Identity) pbs.Time {
	latest := pbs.Time(-1)
	if !tx.Revoked(of.Role, of.Host) {
		return latest
	}
	for id := range tx.Identities() {
		if id.Role == of.Role && id.Host == of.Host {
			latest = max(latest, id.Revoked)
		}
	}
	return latest
}

// replicaRole is the role whose tokens carry all trust there is.
const replicaRole = "replica"

// taken reports whether the host is a replica's, or known by another key. It looks at all
// identities: a host is enrolled once in its life. A new replica may stand on any host, but
// not take the name of another.
func taken(tx *state.Tx, id *state.Identity) bool {
	if id.Role == replicaRole {
		_, ok := tx.Replica(pbs.ReplicaName(id.Host))
		known, again := tx.Identity(id.KeyHash)
		return ok && !(again && known.Host == id.Host)
	}
	for r := range tx.Replicas() {
		if r.Host == id.Host {
			return true
		}
	}
	for other := range tx.Identities() {
		if other.Host == id.Host && other.KeyHash != id.KeyHash {
			return true
		}
	}
	return false
}
