package sched

import (
	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// hasRoom reports whether placeBeside would place a job, and takes nothing.
func (c *cycle) hasRoom(j *state.Job, cl *class, long pbs.Time) bool {
	if c.roomBesideTops(j, cl, long) {
		return true
	}
	if c.reserving == nil || !c.backfills(j.Queue) {
		return false
	}
	runs, known := c.runtime(j)
	if !known {
		return false
	}
	lent := c.lendFor(runs)
	ok := len(lent) > 0 && c.roomBesideTops(j, cl, long)
	for _, k := range lent {
		c.withhold(k)
	}
	return ok
}

// roomBesideTops is hasRoom beside what is kept for jobs that wait.
func (c *cycle) roomBesideTops(j *state.Job, cl *class, long pbs.Time) bool {
	f, free := c.future, c.free
	end := f.end(j, long)
	if c.waitsForTops(j) {
		end.expected = calendar.Forever
	}
	if f.tooLong[cl].stops(end) {
		return false
	}
	if f.before(end) != (met{}) {
		free = f.lasting(c.free, end)
	}
	placed, ok := free.findFor(j, cl)
	if ok {
		free.undo(placed)
	}
	return ok
}
