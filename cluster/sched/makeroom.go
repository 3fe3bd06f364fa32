package sched

import "rampart/fsm/state"

// held holds what decides whether preempting others helps a job that is at a limit.
type held struct {
	attempt
	of state.Class
}

// excess is by how much a job would be over a limit.
type excess struct {
	of limited
	by int64
}

// makeRoom looks for running jobs of lower levels that count for the limits which hold a job
// back, and without which it fits, too.
func (c *cycle) makeRoom(j *state.Job, cl *class) bool {
	if _, unmatched := c.unmatched(j); unmatched {
		return false
	}
	if _, short := c.overDynamic(j); short { // which no job has of the server
		return false
	}
	a, ok := c.attempt(j, cl)
	if !ok {
		return false
	}
	at := held{a, c.view.ClassOf(j)}
	if at.of.Wait = (state.Wait{}); c.preemption.held[at] {
		return false
	}
	if must, ok := c.counting(j, a); ok && c.overcome(j, a, must) {
		return true
	}
	c.preemption.held[at] = true
	return false
}

// counting returns the victims that have to go so that a job is within its limits: the first of
// those that count for a limit that it would exceed. None are an empty list: others make way for what it wants already. False: there are
// too few, or what holds it back is no limit, such as what reservations are to have of the server.
func (c *cycle) counting(j *state.Job, a attempt) ([]*victim, bool) {
	var over []excess
	limits := false
	for _, l := range c.view.RunLimits(j) {
		of := limited{l.Subject, l.Queue, l.Resource}
		if l.Need > l.Most {
			return nil, false
		}
		by := c.view.Used(l, true) + c.limiter.planned[of] + l.Need - l.Most
		limits = limits || by > 0 && l.Need > 0
		if by -= c.preemption.freed[of]; by > 0 && l.Need > 0 {
			over = append(over, excess{of, by})
		}
	}
	if !limits {
		return nil, false
	}
	must := []*victim{}
	for i := range c.preemption.victims {
		if v := &c.preemption.victims[i]; c.may(a, v) && c.reduce(over, v.job, 1) {
			must = append(must, v)
		}
	}
	for _, e := range over {
		if e.by > 0 {
			return nil, false
		}
	}
	kept := must[:0]
	for _, v := range must { // a later one may count for more
		if !v.pending && c.spared(over, v.job) {
			continue
		}
		kept = append(kept, v)
	}
	return kept, true
}

// reduce takes what a job counts for off what is too much, and reports whether that helps.
func (c *cycle) reduce(over []excess, j *state.Job, sign int64) (helps bool) {
	need := c.counts(j)
	for i := range over {
		helps = helps || over[i].by > 0 && need[over[i].of] > 0
	}
	if !helps && sign > 0 {
		return false
	}
	for i := range over {
		over[i].by -= sign * need[over[i].of]
	}
	return helps
}

// spared reports whether nothing is too much with a job either, and lets it count then.
func (c *cycle) spared(over []excess, j *state.Job) bool {
	c.reduce(over, j, -1)
	for _, e := range over {
		if e.by > 0 {
			c.reduce(over, j, 1)
			return false
		}
	}
	return true
}

// counts returns what a job counts for by each limit, those that are soft too.
func (c *cycle) counts(j *state.Job) map[limited]int64 {
	all := map[limited]int64{}
	if !c.limiter.applies(c.view, j.Queue) {
		return all
	}
	for _, l := range append(c.view.RunLimits(j), c.view.SoftLimits(j)...) {
		all[limited{l.Subject, l.Queue, l.Resource}] = l.Need
	}
	return all
}

// uncount notes that somebody gets what a victim counted for.
func (c *cycle) uncount(v *victim) {
	for of, need := range c.counts(v.job) {
		c.preemption.freed[of] += need
	}
}
