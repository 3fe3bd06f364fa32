package command

import (
	"cmp"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageShares changes what entities of fair share have used, by hand: pbsfs.
type ManageShares struct {
	Verb   Verb   `cbor:"1,keyasint"` // VerbSet: of one entity; VerbUnset: it fades once, of all; VerbDelete: of who is not in resource_group
	Entity string `cbor:"2,keyasint,omitempty"`
	Usage  int64  `cbor:"3,keyasint,omitempty"` // thousandths
	Sched  string `cbor:"4,keyasint,omitempty"` // in whose tree; empty: the default scheduler's
}

// Apply sets, fades or drops.
func (c *ManageShares) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	sched := cmp.Or(c.Sched, state.DefaultScheduler)
	if _, ok := tx.Server().Scheduler(sched); !ok && sched != state.DefaultScheduler {
		return pbs.Refuse(pbs.UnknownScheduler)
	}
	text := ""
	switch c.Verb {
	case VerbSet:
		if c.Entity == "" || len(c.Entity) > maxAccountName || c.Usage < 0 {
			return pbs.Refuse(pbs.BadAttributeValue)
		}
		tx.PutShare(sched, c.Entity, c.Usage)
		text = "usage of " + c.Entity + " set"
	case VerbUnset:
		tx.FadeSharesNow(sched)
		text = "usage decayed"
	case VerbDelete:
		tx.TrimShares(sched)
		text = "usage of unknown entities removed"
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "fairshare", By: m.Asker, Text: text})
	return nil
}
