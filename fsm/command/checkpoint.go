package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// CheckpointJob has a running job checkpointed and ended, so that it can go on from there
// later: qhold of a running job, preemption by checkpointing. Of a job that cannot be
// checkpointed the holds are set as HoldJob sets them, and it runs on.
type CheckpointJob struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Holds pbs.Holds `cbor:"2,keyasint,omitempty"` // taken back if it fails, unless a HoldJob keeps them
}

// Apply sets the holds and orders the checkpoint. Without holds a job that cannot be
// checkpointed is refused with NotSupported.
func (c *CheckpointJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	before, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	able := checkpointable(before) && (len(before.Run.Sisters) == 0 || placesOf(tx, before) != nil)
	if c.Holds != 0 {
		hold := HoldJob{Job: c.Job, Holds: c.Holds}
		if err := hold.Apply(tx, m, res); err != nil {
			return err
		}
	} else if !able {
		return pbs.Refuse(pbs.NotSupported)
	}
	if !able || before.LastRun().Checkpointing() {
		return nil
	}
	now, _ := tx.Job(c.Job)
	next := *now
	next.EditRun().Checkpoint = &state.CheckpointAsk{Undo: c.Holds &^ before.Holds}
	tx.PutJob(&next)
	o := tx.Order(state.Order{Host: next.Run.MS, Kind: state.OrderCheckpoint, Job: next.ID, RunCount: next.RunCount})
	res.Order, res.Host, res.Run = o.ID, o.Host, o.RunCount
	return nil
}

// heldAnyway lets holds outlive the failure of a checkpoint under way: somebody else has set them, or
// was told that they are set (L1).
func heldAnyway(j *state.Job, holds pbs.Holds) {
	if j.LastRun().Checkpointing() && j.Run.Checkpoint.Undo&holds != 0 {
		j.EditRun().Checkpoint = &state.CheckpointAsk{Undo: j.Run.Checkpoint.Undo &^ holds}
	}
}

// checkpointable reports whether the job runs, and may be checkpointed.
func checkpointable(j *state.Job) bool {
	interval, set := j.Attrs.Get("Checkpoint", "")
	return j.State == pbs.Running && j.Substate == pbs.SubRunning && placeable(j) && !(set && interval == "n")
}

// CheckpointFailed is the report that a job was not checkpointed, and runs on.
type CheckpointFailed struct {
	Source   Source       `cbor:"1,keyasint"`
	Job      pbs.JobID    `cbor:"2,keyasint"`
	RunCount pbs.RunCount `cbor:"3,keyasint"`
	Reason   string       `cbor:"4,keyasint,omitempty"`
}

// Apply removes the holds that the request had set. A report of another run changes
// nothing (L2).
func (c *CheckpointFailed) Apply(tx *state.Tx, _ Meta, res *state.Result) error {
	fresh, err := c.Source.take(tx, res)
	if err != nil || !fresh {
		return err
	}
	j, ok := tx.Job(c.Job)
	if ok && checkpointing(j, c.RunCount) && j.Run.MS == c.Source.Host {
		next := *j
		next.Holds &^= j.Run.Checkpoint.Undo
		tx.Emit(state.Event{Kind: state.CheckpointFailed, Job: &next, Text: c.Reason})
		notCheckpointed(tx, &next)
	}
	return nil
}

// checkpointRefused ends the wait for a checkpoint that was not begun: the site has no script
// for it, or the run is over. The hold stays, as in PBS.
func checkpointRefused(tx *state.Tx, id pbs.JobID, run pbs.RunCount) {
	if j, ok := tx.Job(id); ok && checkpointing(j, run) {
		next := *j
		notCheckpointed(tx, &next)
	}
}

func checkpointing(j *state.Job, run pbs.RunCount) bool {
	return j.Is(run) && j.LastRun().Checkpointing()
}

// notCheckpointed stores a job that runs on without a checkpoint. One that was made before is still there.
func notCheckpointed(tx *state.Tx, j *state.Job) {
	j.EditRun().Checkpoint = nil
	tx.PutJob(j)
	notPreempted(tx, j.ID, j.RunCount, PreemptCheckpoint)
}

// keep queues a job again that was checkpointed, bound to the hosts of its checkpoint.
func (c *JobEnded) keep(tx *state.Tx, m Meta, j *state.Job) error {
	kept, ok := keptOf(tx, j, c.Source.Host)
	if !ok { // it has released hosts meanwhile
		if !j.Checkpointed() {
			c.drop(tx, j, true)
		}
		discard(tx, j)
		return requeue(tx, m, j, state.JobRequeued, c.Comment)
	}
	dropFormer(tx, j, kept)
	j.Checkpoint = kept
	j.SchedSelect = onHostOf(tx, j, kept)
	j.FailedRuns = 0
	return putBack(tx, m, j, state.JobCheckpointed, c.Comment)
}

// dropUnused has the hosts drop a checkpoint that nothing goes on from: its run was given up, or
// the job is deleted or starts anew.
func (c *JobEnded) dropUnused(tx *state.Tx, j *state.Job, ok bool) {
	switch {
	case !c.Checkpointed:
	case ok && j.Is(c.RunCount) && j.Run.MS == c.Source.Host && j.Run.Ending == 0:
	case ok && j.Checkpointed() && j.Checkpoint.Host == c.Source.Host: // it goes with that one
	default:
		c.drop(tx, j, ok)
	}
}

// drop has all parts of the run's checkpoint dropped; of a host that keeps one that counts nobody
// else's word is taken.
func (c *JobEnded) drop(tx *state.Tx, j *state.Job, ok bool) {
	hosts := c.Keepers
	if ok {
		counts := setOf(j.Checkpoint.Keepers())
		hosts = slices.DeleteFunc(slices.Clone(hosts), func(host pbs.HostName) bool { return counts[host] })
	}
	dropAt(tx, append([]pbs.HostName{c.Source.Host}, hosts...), c.Job, c.RunCount)
}

// discard drops the checkpoint of a job: it starts anew, wherever there is room. It changes j,
// which the caller stores.
func discard(tx *state.Tx, j *state.Job) {
	if j.Checkpoint == nil {
		return
	}
	kept := j.Checkpoint
	j.Checkpoint = nil
	j.SchedSelect = unbound(j.SchedSelect, kept)
	if p := j.LastRun().Phases; p != nil {
		now := *p
		if now.Orig.SchedSelect = unbound(p.Orig.SchedSelect, kept); now.Orig.SchedSelect != p.Orig.SchedSelect { // it is given that back
			j.EditRun().Phases = &now
		}
	}
	dropAt(tx, kept.Keepers(), j.ID, j.RunCount)
}

// rebind keeps a job that was altered or moved on the host of its checkpoint; one that asks for
// something else now starts anew.
func rebind(tx *state.Tx, old, j *state.Job) {
	switch {
	case !j.Checkpointed() || j.SchedSelect == old.SchedSelect:
	case j.SchedSelect == j.Checkpoint.Select:
		j.SchedSelect = onHostOf(tx, j, j.Checkpoint)
	default:
		asked := j.SchedSelect // no checkpoint has bound it
		discard(tx, j)
		j.SchedSelect = asked
	}
}

// startOf returns what accounting is told of a start.
func startOf(j *state.Job) state.EventKind {
	if j.Checkpointed() {
		return state.JobRestarted
	}
	return state.JobStarted
}
