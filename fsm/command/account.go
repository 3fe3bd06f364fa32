package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ForgetAccount has every replica ask the directory of users again about a user: what was known
// before counts no more.
type ForgetAccount struct {
	Name string `cbor:"1,keyasint"`
}

// Apply marks the account; it does not matter whether anything is known of it.
func (c *ForgetAccount) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Name == "" || len(c.Name) > maxAccountName {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	tx.ForgetAccount(c.Name)
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "account", By: m.Asker, Text: "what is known of " + c.Name + " is forgotten"})
	return nil
}

// maxAccountName bounds the name of a user; Linux has 32 bytes, directories more.
const maxAccountName = 256
