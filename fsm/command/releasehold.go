package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ReleaseJob removes holds from a job: qrls.
type ReleaseJob struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Holds pbs.Holds `cbor:"2,keyasint"`
}

// Apply removes the holds; with the last one the job is queued again.
func (c *ReleaseJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if err := wholeOnly(c.Job); err != nil {
		return err
	}
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	next := *j
	next.Holds &^= c.Holds
	holdBack(&next)
	if next.State == pbs.Held && next.Holds == 0 {
		settle(&next, m.At)
		next.FailedRuns, next.Avoid = 0, nil
		if next.Array != nil {
			a := next.EditArray()
			a.Fruitless, a.FruitlessAt = 0, 0
			if next.Comment == arrayTooOften {
				next.Comment = "" // the next start says that it goes on
			}
		}
	}
	tx.PutJob(&next)
	followParent(tx, next.ID, next.Holds == 0)
	tx.Emit(state.Event{Kind: state.JobReleased, Job: &next, By: m.Asker, Text: c.Holds.String()})
	return nil
}
