package state

import (
	"iter"

	"rampart/fsm/pbs"
)

// Tokens yields the enrolment tokens by hash.
func (t *tables) Tokens() iter.Seq[*Token] { return t.tokens.all() }

// Revoked tells whether a host has lost its place in a role: a key of its was revoked, and
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
