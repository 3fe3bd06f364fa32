package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// maxFailedRuns is the run_count above which a job is held whose start has failed (specification:
// reliable-startup section 5).
const maxFailedRuns = 20

// The comments of a job that has failed too often, and of the array of one.
const (
	tooOften      = "job held, too many failed attempts to run"
	arrayTooOften = "Job Array Held, too many failed attempts to run subjob"
)

// holdTooOften holds a job that goes back to its queue when that has happened too often.
func holdTooOften(j *state.Job) {
	if j.FailedRuns > 0 && j.Runs() > maxFailedRuns {
		j.Holds, j.Comment = j.Holds|pbs.HoldSystem, tooOften
	}
}
