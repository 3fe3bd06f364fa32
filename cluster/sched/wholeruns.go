package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// wholeRuns are the runs that have of what a queue has, or the server, kept from one cycle to the next.
type wholeRuns struct {
	consumed []resource.Def // what their holds were read of
	at       pbs.Time       // when they were looked at last
	look     uint64         // the number of that
	runs     map[pbs.JobID]*wholeRun
	sum      calendar.Vnode // of their holds
}

// A wholeRun is a run as it was when its hold was read.
type wholeRun struct {
	job  *state.Job
	hold *calendar.Hold // nil: it has none of it
	till pbs.Time       // from then on the hold is another one, though nothing has changed
	look uint64         // in which it was there last
}

// Above manyOthers runs that are others than before, and one in othersOf of all, all are summed up anew: to change the sum takes time for each.
const manyOthers, othersOf = 64, 16

// runsOf returns the calendar of the runs that have of what a queue has, or the server: who asks must not change it. A run is read anew
// whose record is another one than before, or that goes on beyond its end.
func (c *cycle) runsOf(queue pbs.QueueName, consumed []resource.Def) *calendar.Vnode {
	kept := &c.future.kept.wholes
	w := (*kept)[queue]
	if w == nil || c.now < w.at || !slices.Equal(w.consumed, consumed) {
		w = &wholeRuns{consumed: consumed, runs: map[pbs.JobID]*wholeRun{}}
		if *kept == nil {
			*kept = map[pbs.QueueName]*wholeRuns{}
		}
		(*kept)[queue] = w
	}
	w.at, w.look = c.now, w.look+1
	gone, seen := map[*calendar.Hold]bool{}, 0
	var come, all []*calendar.Hold
	for r := range c.view.AllRunning() {
		if r.Suspended() || !c.countsIn(queue, r) {
			continue
		}
		run := w.runs[r.ID]
		if run == nil {
			run = &wholeRun{}
			w.runs[r.ID] = run
		}
		if run.job != r || run.till <= c.now {
			if run.hold != nil {
				gone[run.hold] = true
			}
			run.job = r
			if run.hold, run.till = c.wholeHold(r, consumed); run.hold != nil {
				come = append(come, run.hold)
			}
		}
		if run.hold != nil {
			all = append(all, run.hold)
		}
		run.look = w.look
		seen++
	}
	if len(w.runs) > seen {
		for id, run := range w.runs {
			if run.look == w.look {
				continue
			}
			if run.hold != nil {
				gone[run.hold] = true
			}
			delete(w.runs, id)
		}
	}
	if others := len(gone) + len(come); others > manyOthers && others*othersOf > len(all) {
		w.sum = calendar.Vnode{}
		w.sum.AddAll(all)
		return &w.sum
	}
	if len(gone) > 0 {
		w.sum.Take(func(h *calendar.Hold) bool { return gone[h] })
	}
	w.sum.AddAll(come)
	return &w.sum
}

// wholeHold returns what a run has of what is consumed, nil if it has nothing of it, and from when on that is another hold.
func (c *cycle) wholeHold(r *state.Job, consumed []resource.Def) (*calendar.Hold, pbs.Time) {
	h := holdOf(calendar.Run, r, 0, span{endOf(r, c.now), c.future.endOf(r)})
	if h.Items = amountsOf(consumed, r.Resources); len(h.Items) == 0 {
		return nil, calendar.Forever
	}
	since := r.RunningSince(c.now)
	if since+walltime(r) <= c.now || r.RunningSince(c.now+1) != since { // it ends later at each look: it goes on, or stands still
		return &h, c.now + 1
	}
	return &h, h.End()
}

// consumedOf returns what of a list is consumed at server or queue.
func (c *cycle) consumedOf(list resource.List) (all []resource.Def) {
	for _, it := range list {
		if def, known := c.view.Resource(it.Name); known && def.Type.Numeric() && def.Flags&resource.PerQueue != 0 {
			all = append(all, def)
		}
	}
	return all
}

// amountsOf returns what somebody asks for of what is consumed.
func amountsOf(consumed []resource.Def, asked resource.List) (all []calendar.Amount) {
	for _, def := range consumed {
		if text, asks := asked.Get(def.Name); asks {
			all = append(all, calendar.Amount{Resource: def.Name, Amount: max(0, min(def.Measure(text), mostWhole))})
		}
	}
	return all
}
