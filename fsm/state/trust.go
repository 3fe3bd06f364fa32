package state

import (
	"iter"

	"rampart/fsm/pbs"
)

// Tokens yields the enrolment tokens by hash.
func (t *tables) Tokens() iter.Seq[*Token] { return t.tokens.all() }

// Revoked reports whether a host has lost its place in a role: a key of its was revoked, and
// it has none that counts.
func (t *tables) Revoked(role string, host pbs.HostName) bool {
	revoked := false
	for id := range t.Identities() {
		if id.Role != role || id.Host != host {
			continue
		}
		if id.Revoked == 0 {
			return false
		}
		revoked = true
	}
	return revoked
}

// ExpireTokens drops enrolment tokens that let nobody in any more.
func (tx *Tx) ExpireTokens() {
	var over []string
	for t := range tx.Tokens() {
		if t.Expires < tx.Now() {
			over = append(over, t.Hash)
		}
	}
	for _, hash := range over {
		tx.DeleteToken(hash)
	}
}

// Token lets a host enrol. Its secret is never in the state, only the hash.
type Token struct {
	Hash     string       `cbor:"1,keyasint"` // SHA-256 of the secret, hexadecimal
	Role     string       `cbor:"2,keyasint"`
	Host     pbs.HostName `cbor:"3,keyasint,omitempty"` // empty: any
	Expires  pbs.Time     `cbor:"4,keyasint"`
	Reusable bool         `cbor:"5,keyasint,omitempty"`
	Submit   bool         `cbor:"6,keyasint,omitempty"` // a mom that vouches for any user
	Used     bool         `cbor:"7,keyasint,omitempty"`
	Created  pbs.Time     `cbor:"8,keyasint,omitempty"` // 0: below the feature level of trust
}

// Identity is a key that was enrolled.
type Identity struct {
	KeyHash string       `cbor:"1,keyasint"` // SHA-256 of the public key (SPKI), hexadecimal
	Role    string       `cbor:"2,keyasint"`
	Host    pbs.HostName `cbor:"3,keyasint"`
	Created pbs.Time     `cbor:"4,keyasint"`
	Submit  bool         `cbor:"5,keyasint,omitempty"`
	Renewed pbs.Time     `cbor:"6,keyasint,omitempty"`  // when the present leaf was made; 0: not known
	Expires pbs.Time     `cbor:"7,keyasint,omitempty"`  // of the present leaf; 0: not known
	Revoked pbs.Time     `cbor:"8,keyasint,omitempty"`  // 0: it is not
	Root    string       `cbor:"9,keyasint,omitempty"`  // hash of the CA that signed the present leaf; empty: not known
	Holds   string       `cbor:"10,keyasint,omitempty"` // of a replica: hash of the newest CA whose key it has
	Address string       `cbor:"11,keyasint,omitempty"` // HOST:PORT of a login host where files of jobs are moved; empty: it has no port
}
