package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// SignalJob sends a signal to the processes of a running job: qsig.
type SignalJob struct {
	Job    pbs.JobID `cbor:"1,keyasint"`
	Signal string    `cbor:"2,keyasint"` // name without SIG, or a number, or one that Suspends
	// Scheduled says that the scheduler asks: it alone lets a job go on that waits for that.
	Scheduled bool   `cbor:"3,keyasint,omitempty"`
	Comment   string `cbor:"4,keyasint,omitempty"` // of the job that goes on; empty: as it is
}

// continues reports whether the signal would let the processes of a suspended job run although what it
// gave back is not its own any more (specification: suspend-release sections 3 and 4).
func continues(signal string) bool { return signal == "CONT" || signal == "18" }

// Apply orders the mother superior to send it.
func (c *SignalJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := runningOrEach(tx, c.Job, func(id pbs.JobID) error {
		one := SignalJob{Job: id, Signal: c.Signal}
		return one.Apply(tx, m, res)
	})
	if err != nil || j == nil {
		return err
	}
	if c.Signal == Suspend && j.LastRun().StoppedByLoad() != nil && (j.Suspended() || BeingSuspended(tx, j)) {
		takenOver(tx, m, j, res)
		return nil
	}
	if Suspends(c.Signal) {
		if err := maySuspend(tx, j, c.Signal); err != nil {
			return err
		}
		if c.Signal == Resume || c.Signal == AdminResume {
			return c.resume(tx, m, j, res)
		}
	}
	if continues(c.Signal) && (j.Suspended() || BeingSuspended(tx, j)) {
		return pbs.Refuse(pbs.BadState)
	}
	o := tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderSignal, Job: j.ID, RunCount: j.RunCount, Signal: c.Signal})
	tx.Emit(state.Event{Kind: state.JobSignaled, Job: j, By: m.Asker, Text: c.Signal})
	res.Order, res.Host = o.ID, o.Host
	return nil
}
