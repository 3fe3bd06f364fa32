package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// keep takes a deletion back that a hook of execjob_preterm has refused (specification: hooks
// sections 4 and 5): the job runs on, or stays suspended. Whoever waits finds the hook's words in the
// comment.
func (c *HookWishes) keep(tx *state.Tx, t ReportedTask) {
	j, ok := c.run(tx, t)
	if !ok || j.State != pbs.Exiting || j.Run.MS != c.Source.Host || j.Run.Ending != state.EndingDelete || j.Substate != pbs.SubExiting {
		return
	}
	next := *j
	if move(&next, pbs.EventKept) != nil {
		return
	}
	next.Substate, next.EditRun().Ending, next.Comment, next.Forget = pbs.SubRunning, 0, KeptComment+c.Why, false
	if j.Run.Session == 0 { // its program had not begun when it was to be deleted, and may not have since
		next.Substate = pbs.SubStarting
	}
	if slices.ContainsFunc(tx.Stakes(j), func(s state.Stake) bool { return s.Held().Suspended }) {
		next.Substate = pbs.SubSuspended
		if p := j.Run.Preemption; p != nil && p.Method == PreemptSuspend || j.LastRun().StoppedByLoad() != nil {
			next.Substate = pbs.SubSchedSuspended
		}
	}
	tx.PutJob(&next)
	notPreempted(tx, j.ID, j.RunCount, PreemptDelete)
	c.ask(tx, "keep", t)
}

// KeptComment begins the comment of a job whose deletion a hook has refused; its words follow.
const KeptComment = "Not deleted: "

// stop suspends a job again, as qsig -s suspend does, that a hook of execjob_preresume does not let go on (specification: hooks
// section 5). One that cannot be suspended now, since a release of its vnodes or a preemption has begun meanwhile, goes on.
func (c *HookWishes) stop(tx *state.Tx, m Meta, t ReportedTask) {
	j, ok := c.run(tx, t)
	if !ok || !j.Is(t.RunCount) || j.State != pbs.Running || j.Substate != pbs.SubRunning || BeingSuspended(tx, j) {
		return
	}
	again := SignalJob{Job: j.ID, Signal: Suspend}
	if maySuspend(tx, j, Suspend) != nil {
		again.Signal = "CONT"
	} else {
		next := *j
		next.Comment, next.EditRun().Refused = StoppedComment+c.Why, true
		tx.PutJob(&next)
	}
	c.ask(tx, again.Signal, t)
	_ = again.Apply(tx, m, &state.Result{})
}

// StoppedComment begins the comment of a job that a hook does not let go on after a suspension; its words follow.
const StoppedComment = "Not resumed: "
