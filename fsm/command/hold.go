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

	// Checkpointed is a run that is being checkpointed: nothing is set, but what was stays if that
	// fails. Of a run that is not, nothing is changed.
	Checkpointed pbs.RunCount `cbor:"3,keyasint,omitempty"`
}

// Apply sets the holds.
func (c *HoldJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if err := wholeOnly(c.Job); err != nil {
		return err
	}
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	next := *j
	if c.Checkpointed != 0 {
		if checkpointing(j, c.Checkpointed) {
			heldAnyway(&next, c.Holds)
			tx.PutJob(&next)
		}
		return nil
	}
	if err := move(&next, pbs.EventHold); err != nil {
		return err
	}
	next.Holds |= c.Holds
	heldAnyway(&next, c.Holds)
	if next.State == pbs.Held {
		if next.Substate != pbs.SubDependent {
			next.Substate = pbs.SubHeld
		}
		if next.Array == nil || !next.Array.Begun {
			next.Eligible = 0
		}
	}
	tx.PutJob(&next)
	followParent(tx, next.ID, false)
	tx.Emit(state.Event{Kind: state.JobHeld, Job: &next, By: m.Asker, Text: c.Holds.String()})
	return nil
}
