package command

import (
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// stageInPause is how long a job waits whose files did not come, as in PBS.
const stageInPause = pbs.Time(30 * time.Minute)

// JobExiting is the report that the program of a run has ended and that its files are on
// their way to other places, or that hooks see to its end: both may take long.
type JobExiting struct {
	Source   Source       `cbor:"1,keyasint"`
	Job      pbs.JobID    `cbor:"2,keyasint"`
	RunCount pbs.RunCount `cbor:"3,keyasint"`
	Hooks    bool         `cbor:"4,keyasint,omitempty"` // of execjob_end
}

// Apply lets the job be seen in stage-out, or exiting; its vnodes stay its own until JobEnded. A report
// of another run changes nothing (L2).
func (c *JobExiting) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := c.Source.takeOf(tx, c.Job, c.RunCount, res)
	if err != nil || j == nil {
		return err
	}
	next := *j
	if err := move(&next, pbs.EventExiting); err != nil {
		return err
	}
	if c.Hooks {
		if j.State != pbs.Exiting {
			next.Substate = pbs.SubExiting
			tx.PutJob(&next)
		}
		return nil
	}
	next.Substate = pbs.SubStageOut
	tx.PutJob(&next)
	return releaseOnStageOut(tx, m, &next)
}

// substateAtStart returns the substate of a run whose mother superior has its order: files come first.
func substateAtStart(j *state.Job) pbs.Substate {
	if _, ok := j.Attrs.Get("stagein", ""); ok {
		return pbs.SubStageIn
	}
	return pbs.SubStarting
}

// stagingOut reports whether the job's program has ended by itself and its files are on their
// way, or its last hooks run: as in PBS it can be deleted by force only.
func stagingOut(j *state.Job) bool { return j.State == pbs.Exiting && j.Run.Ending == 0 }

// awaitFiles puts a job back whose files did not come: it waits in substate 37 until its
// Execution_Time, which is put off. A subjob has no time of its own; it counts as one that
// could not be started.
func (c *JobEnded) awaitFiles(tx *state.Tx, m Meta, j *state.Job) error {
	if j.IsSubjob() {
		j.FailedRuns++
	} else {
		j.ExecAt = max(j.ExecAt, m.At+stageInPause)
	}
	tx.MailFiles(j, "File stage in failed, see below.\nJob will be retried later, please investigate and correct problem.\n"+c.Comment)
	if err := requeue(tx, m, j, state.JobRequeuedUnrun, c.Comment); err != nil {
		return err
	}
	if now, ok := tx.Job(j.ID); ok && now.State == pbs.Waiting {
		next := *now
		next.Substate = pbs.SubStageFailed
		tx.PutJob(&next)
	}
	return nil
}
