package command

import (
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// DeleteJob ends a job at somebody's wish: qdel.
type DeleteJob struct {
	Job     pbs.JobID `cbor:"1,keyasint"`
	Force   bool      `cbor:"2,keyasint,omitempty"` // -W force: the tables change at once
	History bool      `cbor:"3,keyasint,omitempty"` // -x: also out of the history
	Quiet   bool      `cbor:"4,keyasint,omitempty"` // -W suppress_email: nobody gets mail
}

// Apply removes a job that does not run; of one that runs it orders the end.
func (c *DeleteJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	some, several, err := subsetOf(tx, c.Job)
	if err != nil {
		return err
	}
	if several {
		return c.deleteSubjobs(tx, m, some)
	}
	j, ok := tx.Job(c.Job)
	if !ok {
		return pbs.Refuse(pbs.UnknownJob)
	}
	if j.State == pbs.Finished {
		if tx.Expired(j) {
			return pbs.Errorf(pbs.HasFinished, "Request invalid for finished array subjob")
		}
		if !c.History {
			return pbs.Refuse(pbs.HasFinished)
		}
		tx.DeleteJob(j.ID)
		return nil
	}
	next := *j
	if err := move(&next, pbs.EventDelete); err != nil {
		return err
	}
	if !deleted(j) {
		tx.Emit(state.Event{Kind: state.JobDeleteAsked, Job: j, By: m.Asker, Quiet: c.Quiet})
	}
	next.Forget = next.Forget || c.forgets(tx)
	switch {
	case !j.Live():
		return c.remove(tx, m, &next)
	case c.Force:
		forced := *j
		forced.Forget = next.Forget
		return forceEnd(tx, &forced)
	case stagingOut(j):
		return pbs.Refuse(pbs.BadState)
	}
	again := j.Run.Ending == state.EndingDelete
	next.Substate, next.EditRun().Ending = pbs.SubExiting, state.EndingDelete
	refuseRelease(&next, pbs.BadState)
	tx.PutJob(&next)
	if !again {
		kill(tx, &next, killDelay(tx, j), false)
	}
	return nil
}

// forgets reports whether what ends leaves no record: qdel -x.
func (c *DeleteJob) forgets(tx *state.Tx) bool {
	return c.History
}

// remove takes a job away that did not run.
func (c *DeleteJob) remove(tx *state.Tx, m Meta, j *state.Job) error {
	j.Substate, j.Ended = pbs.SubTerminated, m.At
	j.Comment = "Job deleted by " + m.Asker.String()
	discard(tx, j)
	tx.PutJob(j)
	tx.DeleteScript(j.ID)
	tx.Emit(state.Event{Kind: state.JobDequeued, Job: j})
	concluded(tx, j)
	retire(tx, j.ID, c.History)
	if j.IsSubjob() {
		return endArray(tx, j.ID.Parent(), false)
	}
	return nil
}

// forceEnd frees everything without waiting for the mom; the order to kill stays.
func forceEnd(tx *state.Tx, j *state.Job) error {
	next := *j
	run := next.EditRun()
	run.Ending, run.ExitStatus, run.HasExited = state.EndingDelete, pbs.ExitTerminated, true
	kill(tx, j, 0, false)
	return finish(tx, &next, "")
}

// kill orders the end of the present run. An order to run it that was not
// confirmed yet is void: the mom refuses it once it has seen a higher id (L9).
func kill(tx *state.Tx, j *state.Job, delay int64, again bool) {
	dropOrders(tx, j.Run.MS, j.ID, j.RunCount)
	tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderKill, Job: j.ID, RunCount: j.RunCount, Delay: delay, Requeue: again})
}

// defaultKillDelay is PBS's kill_delay in seconds.
const defaultKillDelay = 10

// killDelay returns the seconds from SIGTERM to SIGKILL: the queue's kill_delay.
func killDelay(tx *state.Tx, j *state.Job) int64 {
	if q, ok := tx.Queue(j.Queue); ok {
		if text, set := q.Attrs.Get("kill_delay", ""); set {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n
			}
		}
	}
	return defaultKillDelay
}

// RerunJob ends the present run of a job and queues it again: qrerun.
type RerunJob struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Force bool      `cbor:"2,keyasint,omitempty"`
	// Anyway has a job requeued that is not rerunnable, as LSF's brequeue does. The job stays so.
	Anyway bool `cbor:"3,keyasint,omitempty"`
}

// Apply orders the end of the run. Forced, the job is queued at once, and starts
// again when the mom has confirmed that the earlier run is over (L2).
func (c *RerunJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	some, several, err := subsetOf(tx, c.Job)
	if err != nil {
		return err
	}
	if several {
		return some.eachLive(tx, func(id pbs.JobID) error {
			one := RerunJob{Job: id, Force: c.Force, Anyway: c.Anyway}
			return one.Apply(tx, m, nil)
		})
	}
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	if j.State != pbs.Running && (j.State != pbs.Exiting || !c.Force || j.Run.Ending == state.EndingDelete) {
		return pbs.Refuse(pbs.BadState)
	}
	if j.NotRerunnable && !c.Anyway {
		return pbs.Refuse(pbs.NotRerunnable)
	}
	tx.Emit(state.Event{Kind: state.JobRerunAsked, Job: j, By: m.Asker})
	next := *j
	if c.Force {
		kill(tx, j, 0, true)
		next.Unconfirmed = append(next.Unconfirmed[:len(next.Unconfirmed):len(next.Unconfirmed)],
			state.HostRun{Host: j.Run.MS, RunCount: j.RunCount})
		run := next.EditRun() // what the mom would have said, which nobody waits for
		run.ExitStatus, run.HasExited = pbs.ExitRerun, true
		return requeue(tx, m, &next, state.JobRequeued, "")
	}
	if err := move(&next, pbs.EventRerun); err != nil {
		return err
	}
	next.Substate, next.EditRun().Ending = pbs.SubRerunning, state.EndingRerun
	refuseRelease(&next, pbs.BadState)
	noteHalted(tx, &next)
	tx.PutJob(&next)
	kill(tx, &next, killDelay(tx, j), true)
	return nil
}
