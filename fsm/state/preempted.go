package state

import (
	"iter"
	"slices"

	"rampart/fsm/pbs"
)

// A Preemption is how the scheduler takes from a run what it has, for another job.
type Preemption struct {
	At     pbs.Time  `cbor:"1,keyasint,omitempty"`
	Method string    `cbor:"2,keyasint,omitempty"` // a letter of preempt_order; empty: none has worked
	Failed string    `cbor:"3,keyasint,omitempty"` // methods that the mom has refused for this run
	For    pbs.JobID `cbor:"4,keyasint,omitempty"` // who gets what the run has
	Ways   []Way     `cbor:"5,keyasint,omitempty"` // of those the run was suspended for who have not started since
}

// A Way is made by a run that is suspended, once for each turn of the job that it makes way for.
type Way struct {
	For  pbs.JobID `cbor:"1,keyasint"`
	Turn uint64    `cbor:"2,keyasint,omitempty"`
}

// mostWays bounds the jobs for which one run is suspended before they start: a run that made way so often for nothing
// goes on.
const mostWays = 16

// Turn tells one wait of a job from its next one: it changes whenever the job starts, that of an array with each
// subjob that was never started before.
func (j *Job) Turn() uint64 {
	if j.Array != nil {
		return uint64(j.Array.Queued.Count())
	}
	return uint64(j.RunCount)
}

// WaysOf returns for whom the present run of a job was suspended who has not started since, and is not gone.
func (t *tables) WaysOf(j *Job) []Way {
	p := j.LastRun().Preemption
	if p == nil {
		return nil
	}
	var ways []Way
	for _, w := range p.Ways {
		if first, ok := t.Job(w.For); ok && first.State != pbs.Finished && first.Turn() == w.Turn {
			ways = append(ways, w)
		}
	}
	return ways
}

// MayMakeWay reports whether a run may be suspended for a job that waits: not a second time in the same turn of that
// job, for then the first time was of no use.
func (t *tables) MayMakeWay(j, first *Job) bool {
	ways := t.WaysOf(j)
	return len(ways) < mostWays && !slices.Contains(ways, Way{first.ID, first.Turn()})
}

// Preempting reports whether the present run is being preempted, and goes on until its mom has
// confirmed that.
func (j *Job) Preempting() bool {
	return j.Live() && !j.Suspended() && j.Run.Preemption != nil && j.Run.Preemption.Method != ""
}

// Preempted returns the preemption that the job waits since to go on, or to start again; nil: it does not wait for that.
func (j *Job) Preempted() *Preemption {
	p := j.Ousted
	if j.Suspended() {
		p = j.Run.Preemption
	}
	if p == nil || p.Method == "" || !j.Suspended() && j.State != pbs.Queued {
		return nil
	}
	return p
}

func (j *Job) ousted() bool { return j.Ousted != nil && j.State == pbs.Queued }

// Ousted yields the jobs that are to start again because they were preempted, those that were preempted first,
// first.
func (t *tables) Ousted() iter.Seq[*Job] { return t.mine(t.ousted.all()) }

// Aged yields the jobs that may start, those that wait longest first.
func (t *tables) Aged() iter.Seq[*Job] { return t.mine(t.aged.all()) }
