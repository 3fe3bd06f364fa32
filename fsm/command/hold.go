package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// HoldJob sets holds on a job: qhold. Holds of a running job take effect when it
// is queued again.
type HoldJob struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Holds pbs.Holds `cbor:"2,keyasint"`
}

// Apply sets the holds.
func (c *HoldJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	next := *j
	if err := move(&next, pbs.EventHold); err != nil {
		return err
	}
	next.Holds |= c.Holds
	if next.State == pbs.Held {
		next.Substate, next.Eligible = pbs.SubHeld, 0
	}
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.JobHeld, Job: &next, By: m.Asker, Text: c.Holds.String()})
	return nil
}
