package state

import (
	"iter"

	"rampart/fsm/pbs"
)

// A Preemption is how the scheduler took from a job what it had, for another one.
type Preemption struct {
	At       pbs.Time     `cbor:"1,keyasint,omitempty"`
	Method   string       `cbor:"2,keyasint,omitempty"` // a letter of preempt_order; empty: none has worked
	RunCount pbs.RunCount `cbor:"3,keyasint,omitempty"` // the run that was preempted
	Failed   string       `cbor:"4,keyasint,omitempty"` // methods that the mom has refused for this run
}

// Preempting tells whether the present run is being preempted, and goes on until its mom has
// confirmed that.
func (j *Job) Preempting() bool {
	p := j.Preempted
	return p != nil && p.Method != "" && p.RunCount == j.RunCount && !j.Suspended() && (j.State == pbs.Running || j.State == pbs.Exiting)
}

// WasPreempted tells whether the job waits to go on, or to start again, since it was preempted.
func (j *Job) WasPreempted() bool {
	return j.Preempted != nil && j.Preempted.Method != "" && (j.Suspended() || j.State == pbs.Queued)
}

func (j *Job) ousted() bool { return j.State == pbs.Queued && j.WasPreempted() }

// Ousted yields the jobs that are to start again since they were preempted, those that were preempted first,
// first.
func (t *tables) Ousted() iter.Seq[*Job] { return t.ousted.all() }

// Aged yields the jobs that may start, those that wait longest first.
func (t *tables) Aged() iter.Seq[*Job] { return t.aged.all() }
