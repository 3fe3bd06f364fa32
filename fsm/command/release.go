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
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	next := *j
	next.Holds &^= c.Holds
	if next.State == pbs.Held && next.Holds == 0 {
		if err := move(&next, pbs.EventRelease); err != nil {
			return err
		}
		next.Substate, next.Eligible, next.FailedRuns = pbs.SubQueued, m.At, 0
	}
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.JobReleased, Job: &next, By: m.Asker, Text: c.Holds.String()})
	return nil
}
