package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// maxFailedRuns is the run_count above which a job is held whose start has failed (specification:
// reliable-startup section 5). Below LevelObjects it is the number of starts in a row that came
// to nothing after which it is.
const maxFailedRuns = 20

// The comments of a job that has failed too often, and of the array of one.
const (
	tooOften      = "job held, too many failed attempts to run"
	arrayTooOften = "Job Array Held, too many failed attempts to run subjob"
)

// holdTooOften holds a job that goes back to its queue when that has happened too often.
func holdTooOften(tx *state.Tx, j *state.Job, why string) {
	switch {
	case j.FailedRuns == 0:
	case tx.Cluster().FeatureLevel >= LevelObjects:
		if j.Runs() > maxFailedRuns {
			j.Holds, j.Comment = j.Holds|pbs.HoldSystem, tooOften
		}
	case j.FailedRuns >= maxFailedRuns:
		j.Holds, j.Comment = j.Holds|pbs.HoldSystem, tooOften
		if why != "" {
			j.Comment += ": " + why
		}
	}
}
