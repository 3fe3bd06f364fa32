package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// awaited makes the record of a subjob that was never started, as far as this state knows:
// a run of it lives all the same, and its end is to be waited for (L2).
func awaited(tx *state.Tx, id pbs.JobID) (*state.Job, bool) {
	parent, ok := tx.Job(id.Parent())
	if id.Sub() == 0 || !ok || parent.Array == nil || !parent.Array.Queued.Has(id.Sub()-1) {
		return nil, false
	}
	sub, next := parent.Subjob(id.Sub()-1), *parent
	a := next.EditArray()
	a.Queued = a.Queued.Without(sub.Index())
	tx.PutJob(&next)
	return sub, true
}
