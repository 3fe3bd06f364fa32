package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// StopForLoad suspends a running job because the load of one of its hosts exceeds the thresholds for running jobs (specification: reservation
// section 9.7). Only the scheduler knows the load; the job goes on when the scheduler says so.
type StopForLoad struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"` // that was looked at
	Host     pbs.HostName `cbor:"3,keyasint"`
	Indices  []string     `cbor:"4,keyasint"` // beyond their loadStop
}

// Apply gives the order. A run that is being suspended or preempted already is refused: a plan may be old.
func (c *StopForLoad) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	switch {
	case !j.Is(c.RunCount) || j.State != pbs.Running || j.Substate != pbs.SubRunning:
		return pbs.Refuse(pbs.BadState)
	case j.LastRun().Checkpointing() || BeingSuspended(tx, j):
		return pbs.Errorf(pbs.BadState, "%s is being suspended or checkpointed already", j.ID)
	case len(c.Indices) == 0 || !slices.Contains(j.Hosts(), c.Host):
		return pbs.Refuse(pbs.InvalidRequest)
	}
	if err := (&SignalJob{Job: c.Job, Signal: Suspend}).Apply(tx, m, res); err != nil {
		return err
	}
	next := *j
	next.EditRun().LoadStop = &state.LoadStop{At: tx.Now(), Host: c.Host, Indices: c.Indices}
	tx.PutJob(&next)
	return nil
}

// loadGone notes in a job that load has suspended, or was to suspend, that it goes on.
func loadGone(tx *state.Tx, j *state.Job) {
	if j.LastRun().StoppedByLoad() != nil {
		j.EditRun().LoadStop = &state.LoadStop{At: tx.Now()}
	}
}

// takenOver makes a job that load has suspended, or is suspending, one that somebody has suspended: load no longer lets it go on. The caller
// waits for the order that is on its way.
func takenOver(tx *state.Tx, m Meta, j *state.Job, res *state.Result) {
	next := *j
	if j.Suspended() {
		next.Substate = pbs.SubSuspended
	}
	loadGone(tx, &next)
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.JobSignaled, Job: &next, By: m.Asker, Text: Suspend})
	if o := suspension(tx, j); o != nil {
		res.Order, res.Host = o.ID, o.Host
	}
}

// notStopped notes that the mom has not suspended a job that load was to suspend.
func notStopped(tx *state.Tx, id pbs.JobID, run pbs.RunCount) {
	j, ok := tx.Job(id)
	if !ok || !j.Is(run) || j.Suspended() || j.LastRun().StoppedByLoad() == nil {
		return
	}
	next := *j
	loadGone(tx, &next)
	tx.PutJob(&next)
}
