package sched

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// consider starts a job or says why not. A job whose earlier runs are not
// confirmed to be over must not start, whatever is free (L2).
func (c *cycle) consider(j *state.Job, cl *class) {
	if len(j.Unconfirmed) > 0 || c.paused(j) || c.outrun[j.ID] {
		return
	}
	switch {
	case c.limiter.routes(c.view, j.Queue):
	case !c.started(j.Queue):
		c.explain(j, because(state.WaitQueueStopped))
	case c.inside(j.Queue) != nil && !c.inside(j.Queue).runs:
		c.explain(j, because(state.WaitQueueStopped))
	case c.hours.shut(j.Queue) != 0 && c.inside(j.Queue) == nil:
		c.explain(j, because(c.hours.shut(j.Queue)))
	case j.Array != nil:
		c.considerArray(j, cl)
	case !j.IsSubjob():
		c.try(j, j.ID, cl)
	case *c.room(j) > 0 && c.try(j, j.ID, cl):
		*c.room(j)--
	}
}

// considerArray starts as many subjobs of an array as there is room for; where runs were suspended for it, one for each of
// them before all other jobs, and the others in their turn in a later cycle.
func (c *cycle) considerArray(j *state.Job, cl *class) {
	room, cleared := c.room(j), c.planner.madeFor[j]
	var ends []pbs.Time // of subjobs that are about to start
	for index := range j.Array.Queued.From(c.begun[j.Seq]) {
		switch {
		case *room == 0, c.late(), c.cleared && cleared == 0:
			return
		case len(c.plan.Starts) == c.starts:
			c.plan.More = true
			return
		case c.beyond == 0 && c.inside(j.Queue) == nil && c.soft(j.Queue) && c.over(j) != 0:
			c.yields = c.over(j)
			return
		case !c.try(j, j.ID.Subjob(index), cl):
			return
		}
		c.begun[j.Seq] = index + 1
		cleared--
		if c.inside(j.Queue) == nil {
			ends = append(ends, c.ends)
		}
		if *room--; *room == 0 && j.MaxRun() > 0 {
			c.log(pbs.LogDebug, j.ID, subjobLimit)
			if c.inside(j.Queue) == nil {
				c.foresee(j, cl, ends)
			}
		}
	}
}

// room returns how many more subjobs may run of the array that the job is or belongs to.
func (c *cycle) room(j *state.Job) *int {
	room, known := c.rooms[j.Seq]
	if !known {
		room = new(int)
		if j.Array != nil {
			*room = j.Room()
		} else if parent, ok := c.view.Parent(j); ok {
			*room = parent.Room()
		}
		c.rooms[j.Seq] = room
	}
	return room
}

// try plans the start of a job, or of the subjob of the array j that id names, or says
// why not.
func (c *cycle) try(j *state.Job, id pbs.JobID, cl *class) bool {
	if c.planner.barred[id] || c.planner.barred[j.ID] {
		return false
	}
	if in := c.inside(j.Queue); in != nil {
		return c.tryInside(j, id, cl, in)
	}
	cl = c.planner.classFor(j, cl)
	why, tried := c.reasons[cl]
	told := c.waiting < c.exact && !c.mute()
	if told {
		c.logConsidered(j, id)
	}
	if c.stands(j.Queue) {
		c.explain(j, because(state.WaitOrder))
		return false
	}
	if !tried || !why.wait.Never && c.mayPreempt(j, cl) {
		if wait, reached := c.reached(j, id); reached {
			apart := c.crosses(j) != 0 || c.order.shares.denies(j) || c.low()
			if apart || !c.makeRoom(j, cl) {
				c.explain(j, wait)
				if c.reserving.reserves(j.Queue) && c.atSlots(j, wait) {
					c.keepFor(j, cl)
				}
				if !apart {
					c.waitWhole(j, cl, wait)
				}
			}
			return false
		}
		if code := c.crosses(j); code != 0 {
			c.explain(j, because(code))
			c.waitBeyond(j, cl, because(code))
			return false
		}
		if c.order.shares.denies(j) {
			c.limiter.held[c.view.ClassOf(j)] = because(state.WaitNoShares)
			c.explain(j, because(state.WaitNoShares))
			return false
		}
		if c.low() {
			c.log(pbs.LogDebug2, id, "Job's formula value "+digits(c.score)+" is under threshold "+digits(c.order.threshold))
			c.log(pbs.LogDebug, id, "Job is under job_sort_formula threshold value")
			c.explain(j, because(state.WaitThreshold))
			return false
		}
		if !told {
			c.logConsidered(j, id)
		}
		var placed string
		var long pbs.Time
		var ok, fits bool
		choice := 0
		if !c.stuck(cl) {
			c.placed++
			sized, one := j, cl
			if cl.rising {
				sized, one, choice = c.sized(j, id, cl)
			}
			placed, long, ok, fits = c.placeShrunk(sized, one)
			c.logChunks(j, id, ok || fits)
		}
		if !ok && !fits && !cl.rising && len(cl.choice) > 0 && !j.Checkpointed() { // it goes on where its checkpoint is
			choice, placed, long, ok = c.placeChoice(j, id, cl)
		}
		if ok {
			c.plan.Starts = append(c.plan.Starts, Start{Job: id, Select: j.SchedSelect, More: j.More(), ExecVnode: placed, Choice: choice, Backfills: len(c.tops) > 0, changes: c.shrunk(j, id, long)})
			c.planned(j)
			c.gave(placed)
			for _, id := range j.Depends.RunOne() {
				c.outrun[id] = true
			}
			c.order.shares.charge(j)
			return true
		}
		if fits && c.preempt(j, cl) {
			return false
		}
		if fits {
			c.explain(j, c.conflict(cl))
			c.keepFor(j, cl)
			return false
		}
		c.fails(cl)
		if why = c.why(cl); !why.wait.Never && c.preempt(j, cl) {
			return false
		}
		c.reasons[cl] = why
		c.logWhy(id, why.wait)
		if why.wait.Never && c.mayWait(j, cl) {
			c.log(pbs.LogDebug, id, noStart)
		}
	}
	c.explain(j, why.wait)
	c.wait(j, cl, why)
	return false
}
