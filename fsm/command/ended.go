package command

import (
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// JobEnded is the report that a run is over: nothing of it lives on its host.
type JobEnded struct {
	Source         Source        `cbor:"1,keyasint"`
	Job            pbs.JobID     `cbor:"2,keyasint"`
	RunCount       pbs.RunCount  `cbor:"3,keyasint"`
	ExitStatus     int32         `cbor:"4,keyasint,omitempty"` // 256 + signal; negative: internal causes
	Used           resource.List `cbor:"5,keyasint,omitempty"`
	Comment        string        `cbor:"6,keyasint,omitempty"`
	NeverStarted   bool          `cbor:"7,keyasint,omitempty"`
	Lost           bool          `cbor:"8,keyasint,omitempty"` // the host was booted, or the task is gone
	StageoutStatus int32         `cbor:"9,keyasint,omitempty"`
	StageInFailed  bool          `cbor:"10,keyasint,omitempty"` // never started: its files did not come
	Present        resource.List `cbor:"11,keyasint,omitempty"` // of Used, what is the hosts' that were not released
	Checkpointed   bool          `cbor:"20,keyasint,omitempty"` // the host keeps a checkpoint of it, to go on from

	Keepers []pbs.HostName `cbor:"21,keyasint,omitempty"` // other hosts that keep parts of it
	Fault   pbs.HostName   `cbor:"22,keyasint,omitempty"` // never started: whose fault it was; empty: no host's
}

// Apply ends the run. A report of an earlier run confirms that run's end and
// changes nothing else (L2).
func (c *JobEnded) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	fresh, err := c.Source.take(tx, res)
	if err != nil || !fresh {
		return err
	}
	dropOrders(tx, c.Source.Host, c.Job, c.RunCount)
	tx.Order(state.Order{Host: c.Source.Host, Kind: state.OrderForget, Job: c.Job, RunCount: c.RunCount})
	j, ok := tx.Job(c.Job)
	c.dropUnused(tx, j, ok)
	if !ok {
		return nil
	}
	if j.Is(c.RunCount) && j.LastRun().Sister(c.Source.Host) {
		return sisterEnded(tx, j, c.Source.Host)
	}
	if !j.Live() || !j.Is(c.RunCount) || j.Run.MS != c.Source.Host {
		confirmEnd(tx, j, state.HostRun{Host: c.Source.Host, RunCount: c.RunCount})
		return nil
	}
	next := *j
	used := c.Used
	if c.Lost { // what the mom does not know any more counts
		used = overlaid(j.Run.Used, used)
	}
	run := next.EditRun()
	run.Used = usedNow(tx, j, used)
	run.ExitStatus, run.HasExited = c.ExitStatus, true
	presentUsed(tx, &next, c.Present)
	if c.StageoutStatus < 0 {
		tx.MailFiles(&next, "Post job file processing error; job "+string(c.Job)+" on host "+string(c.Source.Host)+"\n"+c.Comment)
	}
	if c.StageoutStatus != 0 {
		next.Attrs = next.Attrs.Set("Stageout_status", "", stageoutStatus(c.StageoutStatus))
	}
	ended, err := c.releaseAtEnd(tx, m, &next)
	if err != nil {
		return err
	}
	return c.conclude(tx, m, ended)
}

// stageoutStatus returns PBS's word for what became of the output: 1 when all of it was
// delivered. A mom that had none to deliver says 0, so failure is below it.
func stageoutStatus(s int32) string {
	return strconv.Itoa(int(max(s, 0)))
}

// settle decides what becomes of the job.
func (c *JobEnded) settle(tx *state.Tx, m Meta, j *state.Job) error {
	switch {
	case j.Run.Ending == state.EndingDelete:
		return finish(tx, j, "")
	case j.Run.Ending == state.EndingRerun:
		if !c.NeverStarted && !c.Lost {
			j.Output = c.Source.Host
		}
		return requeue(tx, m, j, state.JobRequeued, "")
	case c.Checkpointed:
		return c.keep(tx, m, j)
	case c.NeverStarted && c.ExitStatus == pbs.ExitBadRestart && j.Checkpointed():
		discard(tx, j)
		return requeue(tx, m, j, state.JobRequeuedUnrun, c.Comment)
	case c.NeverStarted && c.StageInFailed:
		return c.awaitFiles(tx, m, j)
	case c.NeverStarted && retryable(c.ExitStatus) && !hasRun(tx, j):
		notStarted(tx, m, j, c.Fault, c.Comment)
		return requeue(tx, m, j, state.JobRequeuedUnrun, c.Comment)
	case (c.Lost || c.NeverStarted && retryable(c.ExitStatus)) && (!j.NotRerunnable || j.Checkpointed()): // it does not run again, but on
		return requeue(tx, m, j, state.JobRequeued, c.Comment)
	default:
		return finish(tx, j, c.Comment)
	}
}

// hasRun reports whether the mom has reported the start of the present run: it may forget that
// with the crash of its host, and say that the run was never started.
func hasRun(tx *state.Tx, j *state.Job) bool {
	return j.Run.Session != 0
}

// retryable reports whether a failed start may go well another time.
func retryable(exit int32) bool { return exit != pbs.ExitOwnFault && exit != pbs.ExitNoOutput }

// dropOrders removes the orders that a run's end has made void; what is kept of its checkpoint is to
// go all the same.
func dropOrders(tx *state.Tx, host pbs.HostName, job pbs.JobID, run pbs.RunCount) {
	var void []pbs.OrderID
	for o := range tx.Orders(host) {
		if o.About(job, run) && o.Kind != state.OrderDiscard {
			void = append(void, o.ID)
		}
	}
	for _, id := range void {
		tx.DeleteOrder(host, id)
	}
}

// confirmEnd notes that an earlier run is over on a host.
func confirmEnd(tx *state.Tx, j *state.Job, ended state.HostRun) {
	open := without(j.Unconfirmed, ended)
	if len(open) == len(j.Unconfirmed) {
		return
	}
	next := *j
	next.Unconfirmed = open
	tx.PutJob(&next)
}

// finish ends the job for good: its vnodes are free, its record goes to the
// history or leaves a tombstone.
func finish(tx *state.Tx, j *state.Job, comment string) error {
	free(tx, j)
	endPhases(j)
	endSisters(tx, j, false)
	discard(tx, j)
	if err := move(j, pbs.EventEnded); err != nil {
		return err
	}
	j.Substate = finishedSubstate(j)
	if j.Ended == 0 {
		j.Ended = tx.Now()
	}
	if comment != "" {
		j.Comment = comment
	} else if j.Comment != "" {
		j.Comment += finishedWords(j)
	}
	switch {
	case j.Run.Session != 0 || j.Run.Counted:
		if j.Run.Phases != nil {
			tx.Emit(state.Event{Kind: state.JobPhasesOver, Job: j, Used: phaseUsed(j, nil)})
		}
		tx.Emit(state.Event{Kind: state.JobEnded, Job: j})
	case j.LastRun().EndedBy != "": // as if it had waited in the queue of its reservation
		tx.Emit(state.Event{Kind: state.JobDeleteAsked, Job: j, By: pbs.ParseUser(j.LastRun().EndedBy)})
	case !deleted(j): // accounting never saw it start, and would wait for it for ever
		tx.Emit(state.Event{Kind: state.JobAborted, Job: j, Text: j.Comment})
	}
	tx.PutJob(j)
	tx.DeleteScript(j.ID)
	concluded(tx, j)
	retire(tx, j.ID, j.Forget)
	return subjobEnded(tx, j)
}

// deleted reports whether somebody has asked for the end of a job that has begun.
func deleted(j *state.Job) bool {
	if j.Array != nil {
		return j.Array.Deleted
	}
	return j.LastRun().Ending == state.EndingDelete
}

func finishedSubstate(j *state.Job) pbs.Substate {
	status, _ := j.Exit()
	switch {
	case deleted(j):
		return pbs.SubTerminated
	case status != 0:
		return pbs.SubFailed
	}
	return pbs.SubFinished
}

func finishedWords(j *state.Job) string {
	status, _ := j.Exit()
	switch {
	case deleted(j) && j.LastRun().EndedBy != "":
		return " and terminated by " + j.LastRun().EndedBy
	case deleted(j):
		return " and terminated"
	case pbs.Exceeded(status) != "":
		return " and exceeded resource " + pbs.Exceeded(status)
	case status != 0:
		return " and failed"
	}
	return " and finished"
}

// requeue puts the job back into its queue after its run is over.
func requeue(tx *state.Tx, m Meta, j *state.Job, kind state.EventKind, comment string) error {
	switch {
	case j.Run.Counted && kind == state.JobRequeuedUnrun:
		kind = state.JobRequeued
	case j.Run.Session == 0 && !j.Run.Counted:
		kind = state.JobRequeuedUnrun // accounting never saw it start
	}
	return putBack(tx, m, j, kind, comment)
}

func putBack(tx *state.Tx, m Meta, j *state.Job, kind state.EventKind, comment string) error {
	free(tx, j)
	endPhases(j)
	endSisters(tx, j, true)
	if err := move(j, pbs.EventRequeue); err != nil {
		return err
	}
	j.Forget = false // it is not over
	ended := *j      // what the records of the end show
	ended.Ended = m.At
	tx.Emit(state.Event{Kind: kind, Job: &ended, Text: comment})
	if p := j.Run.Preemption; p != nil && (p.Method == PreemptRequeue || p.Method == PreemptCheckpoint) {
		j.Ousted = p // else something else has ended the run
	}
	noteHalted(tx, j)
	wholeAgain(j, tx)
	unchoose(tx, j)
	unpace(j)
	bind(tx, j)
	j.Run = nil
	j.Substate, j.Comment, j.Eligible = pbs.SubQueued, comment, m.At
	j.Attrs = j.Attrs.Unset("jobdir", "")
	if shrinksToFit(j) {
		j.Resources = j.Resources.Unset("walltime") // the next start gives it another one
	}
	holdTooOften(j)
	subjobReturned(tx, m, j)
	settle(j, m.At)
	tx.PutJob(j)
	followSet(tx, j)
	return nil
}
