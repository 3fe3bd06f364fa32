package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageShares changes what entities of fair share have used, by hand: pbsfs.
type ManageShares struct {
	Verb   Verb   `cbor:"1,keyasint"` // VerbSet: of one entity; VerbUnset: it fades once, of all; VerbDelete: of who is not in resource_group
	Entity string `cbor:"2,keyasint,omitempty"`
	Usage  int64  `cbor:"3,keyasint,omitempty"` // thousandths
}

// Apply sets, fades or drops.
func (c *ManageShares) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	text := ""
	switch c.Verb {
	case VerbSet:
		if c.Entity == "" || len(c.Entity) > maxAccountName || c.Usage < 0 {
			return pbs.Refuse(pbs.BadAttributeValue)
		}
		tx.PutShare(c.Entity, c.Usage)
		text = "usage of " + c.Entity + " set"
	case VerbUnset:
		tx.FadeSharesNow()
		text = "usage decayed"
	case VerbDelete:
		tx.TrimShares()
		text = "usage of unknown entities removed"
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "fairshare", By: m.Asker, Text: text})
	return nil
}
