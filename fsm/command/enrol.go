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
	tx.PutToken(&t)
	return nil
}

// Enrol turns a token into an identity on record.
type Enrol struct {
	TokenHash string         `cbor:"1,keyasint"`
	Identity  state.Identity `cbor:"2,keyasint"`
}

// Apply uses the token up and notes the key. A token that is unknown, expired, used,
// or of another host or role is refused with BadToken.
func (c *Enrol) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	t, ok := tx.Token(c.TokenHash)
	if !ok || t.Expires < m.At || t.Role != c.Identity.Role || (t.Host != "" && t.Host != c.Identity.Host) {
		return pbs.Refuse(pbs.BadToken)
	}
	known, again := tx.Identity(c.Identity.KeyHash)
	if t.Used && !t.Reusable && !(again && known.Host == c.Identity.Host && known.Role == c.Identity.Role) {
		return pbs.Refuse(pbs.BadToken)
	}
	next := *t
	next.Used = true
	tx.PutToken(&next)
	id := c.Identity
	id.Created, id.Submit = m.At, t.Submit
	tx.PutIdentity(&id)
	return nil
}
