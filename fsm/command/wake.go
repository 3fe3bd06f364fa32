package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// maxWoken bounds how many jobs one tick wakes; the rest is for the next one.
const maxWoken = 5000

// wake queues the jobs whose time has come (qsub -a). Only those are looked at.
func wake(tx *state.Tx, at pbs.Time) {
	var due []*state.Job
	for j := range tx.Due() {
		if j.ExecAt > at || len(due) == maxWoken {
			break
		}
		due = append(due, j)
	}
	for _, j := range due {
		next := *j
		settle(&next, at)
		tx.PutJob(&next)
	}
}
