package command

import (
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// The methods of preempt_order.
const (
	PreemptSuspend    = "S"
	PreemptCheckpoint = "C"
	PreemptRequeue    = "R"
	PreemptDelete     = "D"
)

// PreemptJob takes what a running job has away from it, for a job that waits and comes before
// it (specification: suspend-release sections 2 and 5).
type PreemptJob struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"` // that was looked at
	Method   string       `cbor:"3,keyasint"`
	For      pbs.JobID    `cbor:"4,keyasint"` // the job that waits; of subjobs that were never started their array
}

// Apply gives the one order that the method takes. A run that is being preempted already is
// refused, and so is one that nobody waits for any more: a plan may be old, and a new leader
// makes its own.
func (c *PreemptJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	if tx.Cluster().FeatureLevel < LevelObjects {
		return pbs.Refuse(pbs.NotSupported)
	}
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	if j.State != pbs.Running || j.Substate != pbs.SubRunning || j.RunCount != c.RunCount {
		return pbs.Refuse(pbs.BadState)
	}
	if j.Preempting() || j.Checkpointing() || beingSuspended(tx, j) {
		return pbs.Errorf(pbs.BadState, "%s is being preempted, suspended or checkpointed already", j.ID)
	}
	if first, ok := tx.Job(c.For); !ok || !first.Startable() {
		return pbs.Errorf(pbs.BadState, "%s no longer waits", c.For)
	}
	switch c.Method {
	case PreemptSuspend:
		err = (&SignalJob{Job: c.Job, Signal: Suspend}).Apply(tx, m, res)
	case PreemptCheckpoint:
		err = (&CheckpointJob{Job: c.Job}).Apply(tx, m, res)
	case PreemptRequeue:
		err = (&RerunJob{Job: c.Job}).Apply(tx, m, res)
	case PreemptDelete:
		err = (&DeleteJob{Job: c.Job}).Apply(tx, m, res)
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	if err != nil {
		return err
	}
	now, ok := tx.Job(c.Job)
	if !ok {
		return nil
	}
	next := *now
	mark := state.Preemption{At: m.At, Method: c.Method, RunCount: j.RunCount}
	if p := j.Preempted; p != nil && p.RunCount == j.RunCount {
		mark.Failed = p.Failed
	}
	next.Preempted = &mark
	tx.PutJob(&next)
	return nil
}

// Preemptable tells whether a running job can be preempted by a method at all.
func Preemptable(j *state.Job, method string) bool {
	switch method {
	case PreemptSuspend, PreemptDelete:
		return !j.Checkpointing()
	case PreemptCheckpoint:
		return checkpointable(j) && !j.Checkpointing()
	case PreemptRequeue:
		return !j.NotRerunnable && !j.Checkpointing()
	}
	return false
}

// beingSuspended tells whether an order to suspend the present run is on its way.
func beingSuspended(tx *state.Tx, j *state.Job) bool {
	for o := range tx.Orders(j.MS) {
		if o.Job == j.ID && o.RunCount == j.RunCount && suspends(o) {
			return true
		}
	}
	return false
}

// notPreempted notes that the mom has not done what a preemption wanted: the scheduler tries
// the next method.
func notPreempted(tx *state.Tx, id pbs.JobID, run pbs.RunCount, method string) {
	j, ok := tx.Job(id)
	if !ok || j.RunCount != run || !j.Preempting() || j.Preempted.Method != method {
		return
	}
	next := *j
	mark := *j.Preempted
	if !strings.Contains(mark.Failed, mark.Method) {
		mark.Failed += mark.Method
	}
	mark.Method = ""
	next.Preempted = &mark
	tx.PutJob(&next)
}
