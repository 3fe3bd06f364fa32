package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// conclude decides what becomes of the job. If its program was never started the job does not wait for
// sisters that are down.
func (c *JobEnded) conclude(tx *state.Tx, m Meta, j *state.Job) error {
	idle := c.idle(j)
	if err := c.settle(tx, m, j); err != nil || !idle {
		return err
	}
	return idled(tx, c.Job, c.RunCount)
}

// idle reports whether nothing of the run can live anywhere, by the word of its mother superior: the program was not
// started, and never will be, and it alone could have started others at the sisters (L2). A host that was booted, or does
// not know the run, may have forgotten a start; a run that goes on from a checkpoint has programs of its own at its sisters.
func (c *JobEnded) idle(j *state.Job) bool {
	return c.NeverStarted && !c.Lost && (c.ExitStatus == pbs.ExitRetry || c.ExitStatus == pbs.ExitJoin) &&
		j.Run.Session == 0 && !j.Run.Counted && !j.Checkpointed()
}

// idled notes that nothing of an earlier run can live where its end is still to be confirmed.
func idled(tx *state.Tx, id pbs.JobID, run pbs.RunCount) error {
	j, ok := tx.Job(id)
	if !ok || len(j.Unconfirmed) == 0 {
		return nil
	}
	next := *j
	next.Unconfirmed = nil
	for _, r := range j.Unconfirmed {
		if r.RunCount == run {
			if h, ok := tx.Host(r.Host); !ok || !h.Up {
				continue
			}
			r.Idle = true
		}
		next.Unconfirmed = append(next.Unconfirmed, r)
	}
	tx.PutJob(&next)
	return nil
}

// confirmIdle has nobody wait any longer for a host that is down to end what cannot live there.
func confirmIdle(tx *state.Tx, host pbs.HostName) {
	for _, j := range slices.Collect(tx.Awaiting()) {
		gone := func(r state.HostRun) bool { return r.Host == host && r.Idle }
		if slices.ContainsFunc(j.Unconfirmed, gone) {
			next := *j
			next.Unconfirmed = slices.DeleteFunc(slices.Clone(j.Unconfirmed), gone)
			tx.PutJob(&next)
		}
	}
}
