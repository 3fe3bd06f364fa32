package command

import (
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// PeriodicCheckpoints is an attribute that moms are told beside those of the job: its periodic
// checkpoints are wanted, for the servers understand the reports of them.
const PeriodicCheckpoints = "periodic_checkpoints"

// CheckpointMade is the report that a checkpoint was made of a job that runs on: when its run is
// lost, or given back, it goes on from there.
type CheckpointMade struct {
	Source   Source       `cbor:"1,keyasint"`
	Job      pbs.JobID    `cbor:"2,keyasint"`
	RunCount pbs.RunCount `cbor:"3,keyasint"`
}

// Apply notes where the checkpoint is. Of a job that has released vnodes none counts any more: the
// mother superior has the new one in the place of that before. A report of another run changes nothing (L2).
func (c *CheckpointMade) Apply(tx *state.Tx, _ Meta, res *state.Result) error {
	j, err := c.Source.takeOf(tx, c.Job, c.RunCount, res)
	if err != nil || j == nil {
		return err
	}
	kept, ok := keptOf(tx, j, c.Source.Host)
	next := *j
	if !ok {
		if !j.Checkpointed() {
			dropAt(tx, []pbs.HostName{c.Source.Host}, j.ID, j.RunCount)
			return nil
		}
		discard(tx, &next)
		tx.PutJob(&next)
		return nil
	}
	dropFormer(tx, j, kept)
	next.Checkpoint = kept
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.CheckpointMade, Job: &next})
	return nil
}

// bind keeps a job that is queued again on the hosts of its checkpoint. One that may run again does
// not wait for a host that was given up.
func bind(tx *state.Tx, j *state.Job) {
	if !j.Checkpointed() {
		return
	}
	if !j.NotRerunnable && keeperLost(tx, j.Checkpoint) {
		discard(tx, j)
		return
	}
	asked := unbound(j.SchedSelect, j.Checkpoint)
	if !hasPlaces(j.Checkpoint, asked) || asked != j.Checkpoint.Select && keptInPart(j) {
		discard(tx, j)
		return
	}
	rebase(tx, j, asked, true) // it may have another one of its alternatives by now
}

// keptInPart reports whether a job that has its whole request back was checkpointed after it had released vnodes.
func keptInPart(j *state.Job) bool {
	p := j.Run.Phases
	return p != nil && unbound(p.Orig.SchedSelect, j.Checkpoint) != j.Checkpoint.Select
}

// spaced raises the interval of periodic checkpoints to the checkpoint_min of the queue, which
// is also that of c and w alone, as PBS does.
func spaced(q *state.Queue, j *state.Job) {
	text, _ := j.Attrs.Get("Checkpoint", "")
	kind, minutes, _ := strings.Cut(text, "=")
	least := q.Int("checkpoint_min")
	if kind != "c" && kind != "w" || least <= 0 {
		return
	}
	if n, _ := strconv.ParseInt(minutes, 10, 64); n < least {
		j.Attrs = j.Attrs.Set("Checkpoint", "", kind+"="+strconv.FormatInt(least, 10))
	}
}
