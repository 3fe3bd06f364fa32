package command

import (
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// hotFor bounds a hot start, as PBS does: what has not started by then waits for its turn.
const hotFor = pbs.Time(5 * time.Minute)

// noteHalted notes where a job ran whose run ends with the servers, or is to, however late its mom says so: a hot start runs
// it there again. A job that has released vnodes is to have its whole request, for which the scheduler finds room.
func noteHalted(tx *state.Tx, j *state.Job) {
	if tx.Server().HaltedAt != 0 && j.Run.Phases == nil {
		j.Halted = j.Run.ExecVnode.String()
	}
}

// startHot begins a hot start, if the servers have ended on purpose, and jobs with them.
func startHot(tx *state.Tx, m Meta) {
	if tx.Server().HaltedAt == 0 || !waitsHalted(tx) {
		return
	}
	next := *tx.Server()
	next.HotSince = m.At
	tx.PutServer(&next)
}

// endHot lets the scheduler go on when all have started, or time is up.
func endHot(tx *state.Tx, m Meta) {
	hot := *tx.Server()
	if hot.HotSince == 0 || m.At <= hot.HotSince+hotFor && waitsHalted(tx) {
		return
	}
	hot.HotSince = 0
	tx.PutServer(&hot)
	forgetHalted(tx)
}

// waitsHalted reports whether a job that has ended with the servers can start again, or is about to: a start that
// fails, as where its checkpoint is of no use, is followed by another one.
func waitsHalted(tx *state.Tx) bool {
	for j := range tx.Jobs() {
		if j.Halted != "" && (j.Startable() || j.Run != nil) {
			return true
		}
	}
	return false
}

// forgetHalted leaves the jobs that have ended with the servers to the scheduler.
func forgetHalted(tx *state.Tx) {
	var halted []*state.Job
	for j := range tx.Jobs() {
		if j.Halted != "" {
			halted = append(halted, j)
		}
	}
	for _, j := range halted {
		next := *j
		next.Halted = ""
		tx.PutJob(&next)
	}
}
