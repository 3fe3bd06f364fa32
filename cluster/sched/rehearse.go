package sched

import (
	"maps"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// mostRehearsals bounds how often victims are looked for again because one of them would go on too early.
const mostRehearsals = 8

// findCandidate finds victims by whose preemption the job will start: what is planned was rehearsed.
func (c *cycle) findCandidate(j *state.Job, a attempt, method int, must []*victim) (candidate, bool) {
	for range mostRehearsals {
		q, ok := c.selectVictims(a, method, must)
		if !ok || !c.rehearse(j, q) {
			return candidate{}, false
		}
		v := c.early(a, q)
		if v == nil {
			return q, true
		}
		if v.taken || v.pending {
			return candidate{}, false
		}
		c.preemption.fruitless[v] = true
		c.log(pbs.LogDebug, v.job.ID, "Preempting job will escalate its priority")
	}
	return candidate{}, false
}

// rehearse reports whether the job can start where it was placed once its victims are preempted. That place was looked for beside what
// top jobs and reservations are to have.
func (c *cycle) rehearse(j *state.Job, q candidate) bool {
	var leavers []command.Leaver
	for _, v := range q.victims {
		leavers = append(leavers, command.Leaver{Job: v.job, Method: v.method(q.method)})
	}
	if err := command.RehearseStart(c.view, leavers, j, q.placed); err != nil {
		c.log(pbs.LogDebug, j.ID, "Nobody is preempted for it: "+err.Error())
		return false
	}
	return true
}

// beside reports whether a job that was placed would have for itself what it wants for itself.
func (w *world) beside(placed spec.ExecVnode, place spec.Place) bool {
	for _, name := range placed.Vnodes() {
		n := &w.nodes[w.byVnode[name]]
		if !n.vnode.Lets(w.use(n), place) {
			return false
		}
	}
	return true
}

// early returns a victim that would go on, or start again, before the one it makes way for, if all others make way, too:
// nobody is over a soft limit any more whose jobs are suspended or queued again. Nil: there is none.
func (c *cycle) early(a attempt, q candidate) *victim {
	if !c.order.levels.asks(isOverQueue | isOverServer) {
		return nil
	}
	gone := maps.Clone(c.preemption.freed)
	for _, v := range q.victims {
		for of, need := range c.counts(v.job) {
			gone[of] += need
		}
	}
	var last *victim
	for _, v := range q.victims {
		if v.method(q.method) != command.PreemptDelete && c.levelOf(v.job, gone) >= a.level {
			last = v
		}
	}
	for i := range c.preemption.victims {
		if v := &c.preemption.victims[i]; v.taken && c.levelOf(v.job, gone) >= v.below {
			return v
		}
	}
	return last
}
