package sched

import (
	"context"
	"time"

	"rampart/fsm/state"
)

// hotEvery is how often a hot start looks for vnodes that are back.
const hotEvery = time.Second

// hot starts jobs again where they ran when the servers ended (pbs_server -t hot), whether scheduling is on or off, and
// reports whether one of them still waited: nothing else is planned then. One whose vnodes are not free yet is tried again.
func (l *Loop) hot(ctx context.Context, v *state.View) bool {
	if v.Server().HotSince == 0 {
		return false
	}
	if v.SchedulerName() != state.DefaultScheduler { // the default one starts them all
		return true
	}
	var starts []Start
	for j := range v.Jobs() {
		if j.Halted != "" && j.Startable() {
			starts = append(starts, Start{Job: j.ID, Select: j.SchedSelect, More: j.More(), ExecVnode: j.Halted})
		}
	}
	l.propose(ctx, v, l.approved(ctx, v, starts))
	return len(starts) > 0
}
