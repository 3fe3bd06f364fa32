package command

import (
	"slices"
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// SetWaits says why jobs wait. Each reason is there once, for all its jobs; one without a code changes nothing of what
// is said already.
type SetWaits struct {
	Waits []state.Wait `cbor:"1,keyasint"`
	Jobs  []JobWait    `cbor:"2,keyasint"`
	// Planned is the revision of the configuration of LSF by which the cycle was planned, where that is younger than what the last one knew; else 0.
	Planned uint64 `cbor:"3,keyasint,omitempty"`
}

// JobWait is why one job waits.
type JobWait struct {
	Job  pbs.JobID `cbor:"1,keyasint"`
	Wait int       `cbor:"2,keyasint,omitempty"` // index in Waits

	Start     pbs.Time `cbor:"3,keyasint,omitempty"` // when it is expected to start; 0: that stays as it is
	ExecVnode string   `cbor:"4,keyasint,omitempty"` // where

	Top    TopMark `cbor:"5,keyasint,omitempty"`
	Forget bool    `cbor:"6,keyasint,omitempty"` // when and where it was expected to start: not any more
}

// TopMark says whether others must not delay a job.
type TopMark uint8

// The marks.
const (
	TopAsBefore TopMark = iota
	TopNow
	TopNoMore
)

// foresees reports whether something is said of the job's start.
func (w *JobWait) foresees() bool { return w.Start != 0 || w.Top != TopAsBefore || w.Forget }

// Add adds a job and why it waits, which the job's Wait need not say.
func (c *SetWaits) Add(j JobWait, why state.Wait) {
	if j.Wait = slices.Index(c.Waits, why); j.Wait < 0 {
		j.Wait = len(c.Waits)
		c.Waits = append(c.Waits, why)
	}
	c.Jobs = append(c.Jobs, j)
}

// Apply takes over the reasons of jobs that are still queued, or suspended until the scheduler lets them go on, in place of their comments, and when the next subjobs of
// arrays that have begun are expected to start, the comments of which say when they began.
func (c *SetWaits) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if c.Planned != 0 {
		tx.PlanLSF(c.Planned)
	}
	for _, w := range c.Jobs {
		j, ok := tx.Job(w.Job)
		if !ok || !mayHear(j, w) || w.Wait < 0 || w.Wait >= len(c.Waits) {
			continue
		}
		why := c.Waits[w.Wait]
		if j.Says(why, false) && !w.foresees() {
			continue
		}
		next := *j
		switch {
		case why.Code == 0:
		case j.State == pbs.Queued:
			tx.SetWait(&next, why)
		case j.WaitsToGoOn():
			next.Comment = why.Comment()
		}
		if w.Start != 0 {
			next.Attrs = next.Attrs.Set("estimated", "start_time", strconv.FormatInt(w.Start.Unix(), 10)).
				Set("estimated", "exec_vnode", w.ExecVnode)
		}
		mark(&next, w)
		tx.PutJob(&next)
	}
	return nil
}

// mayHear reports whether what is said of the wait of a job is still of interest.
func mayHear(j *state.Job, w JobWait) bool {
	switch j.State {
	case pbs.Queued:
		return true
	case pbs.Begun:
		return w.foresees() && j.MayStart()
	case pbs.Running:
		return w.Start != 0 && j.Suspended() || j.WaitsToGoOn()
	case pbs.Held, pbs.Waiting:
		return w.Top == TopNoMore || w.Forget
	}
	return false
}

// mark notes whether the job is a top job, and forgets its start if that is not known any more.
func mark(j *state.Job, w JobWait) {
	switch w.Top {
	case TopNow:
		j.Attrs = j.Attrs.Set("topjob", "", "True")
	case TopNoMore:
		j.Attrs = j.Attrs.Set("topjob", "", "False")
	}
	if w.Forget {
		j.ForgetStart()
	}
}
