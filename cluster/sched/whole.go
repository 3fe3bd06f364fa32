package sched

import (
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// What server and queues have of resources that are consumed there (those with flag q in their resources_available) has calendars as
// vnodes have. They are made when a job that asks for some of it is to be planned for later, of the runs as they were known before, and hold until
// the end of the cycle.

// wholes are the calendars of queues; that of the server is of the queue without a name.
type wholes struct {
	of       map[pbs.QueueName]*calendar.Vnode
	given    []*state.Job // what was planned to start in the cycle
	promised bool         // top jobs are to have some
}

// mostWhole bounds what one job counts for, so that very many can be summed up.
const mostWhole = 1 << 42

// offers returns what a job asks for of what the server and its queue have.
func (c *cycle) offers(j *state.Job) []state.Limit {
	if !c.limiter.applies(c.view, j.Queue) {
		return nil
	}
	return only(c.limiter.runLimits(c.view, j), func(l state.Limit) bool { return l.Offer })
}

// whole returns the calendar of a queue, or of the server.
func (c *cycle) whole(queue pbs.QueueName) *calendar.Vnode {
	if v := c.wholes.of[queue]; v != nil {
		return v
	}
	list := c.view.Server().Resources("resources_available")
	if q, ok := c.view.Queue(queue); ok {
		list = q.Resources("resources_available")
	}
	consumed := c.consumedOf(list)
	var all []*calendar.Hold
	add := func(h calendar.Hold, asked resource.List) {
		if h.Items = amountsOf(consumed, asked); len(h.Items) > 0 {
			all = append(all, &h)
		}
	}
	for _, j := range c.wholes.given {
		if c.countsIn(queue, j) {
			add(holdOf(calendar.Run, j, c.now, c.lasts(j)), j.Resources)
		}
	}
	if queue == "" {
		for r := range c.view.Reservations() {
			for n := range r.Occurrences {
				if from, until := r.Times(n); len(r.Occurrences[n].Nodes) > 0 {
					add(calendar.Hold{From: from, Until: until, Kind: calendar.Reservation, By: string(r.ID)}, r.Resources)
				}
			}
		}
		for _, g := range c.shared.given {
			add(calendar.Hold{From: g.from, Until: g.until, Kind: calendar.Pending}, g.asked)
		}
	}
	v := c.runsOf(queue, consumed).Clone()
	v.AddAll(all)
	if c.wholes.of == nil {
		c.wholes.of = map[pbs.QueueName]*calendar.Vnode{}
	}
	c.wholes.of[queue] = &v
	return &v
}

// lasts returns until when a job has what it has that starts, or goes on, now.
func (c *cycle) lasts(j *state.Job) span {
	if j.Suspended() {
		return spanFrom(c.now, leftExpected(j, c.now), leftOf(j, c.now))
	}
	return c.future.end(j, c.planner.rows.walltime(j))
}

// countsIn reports whether a job has of what a queue has, or the server: jobs of reservations have of the share of those.
func (c *cycle) countsIn(queue pbs.QueueName, j *state.Job) bool {
	return queue == "" && j.Reservation == "" || queue != "" && j.Queue == queue
}

// elsewhere returns when something is given back, maybe, of what server and queue have for which a job asks, though nothing is on the vnodes
// that the scheduler plans for: others have of that, too. The times are sorted.
func (c *cycle) elsewhere(j *state.Job) (ends []pbs.Time) {
	if c.view.Scope() == "" {
		return nil
	}
	for _, l := range c.offers(j) {
		for _, h := range c.whole(l.Queue).Holds() {
			if end := h.End(); end > c.now && end < calendar.Forever {
				ends = append(ends, end)
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// hasWhole reports whether server and queue have what a job asks for from a time on: beside what reservations are to have until its last end,
// and beside what top jobs are to have until its expected one.
func (c *cycle) hasWhole(offers []state.Limit, win *window) bool {
	for _, l := range offers {
		if held := win.missing(c.whole(l.Queue), l.Resource); l.Need > 0 && l.Need > l.Most-held {
			return false
		}
	}
	return true
}

// wholeWindow is a window on what server and queues have.
func wholeWindow(from pbs.Time, until span) *window {
	return &window{from: from, span: until, whole: true, likely: true}
}

// keepWhole keeps for a top job what it is to have of server and queue.
func (c *cycle) keepWhole(t top) {
	for _, l := range c.offers(t.job) {
		h := holdOf(calendar.Top, t.job, t.start, t.until)
		h.Items = []calendar.Amount{{Resource: l.Resource, Amount: max(0, min(l.Need, mostWhole))}}
		c.whole(l.Queue).Add(&h)
		c.wholes.promised = true
	}
}

// plannedWhole counts a job that is about to start.
func (c *cycle) plannedWhole(j *state.Job) {
	offers := c.offers(j)
	if len(offers) == 0 {
		return
	}
	c.wholes.given = append(c.wholes.given, j)
	for _, l := range offers {
		if v := c.wholes.of[l.Queue]; v != nil {
			h := holdOf(calendar.Run, j, c.now, c.lasts(j))
			h.Items = []calendar.Amount{{Resource: l.Resource, Amount: max(0, min(l.Need, mostWhole))}}
			v.Add(&h)
		}
	}
}

// overPromised reports whether a job that starts now would have of server and queue what top jobs are to have.
func (c *cycle) overPromised(j *state.Job) bool {
	if !c.wholes.promised {
		return false
	}
	win := wholeWindow(c.now, c.future.end(j, c.planner.rows.walltime(j)))
	if len(c.tops) > 0 && !c.backfills(j.Queue) {
		win.expected = calendar.Forever
	}
	return !c.hasWhole(c.offers(j), win)
}

// awaitsWhole reports whether a job waits for what server or queue have, and for no limit: it comes next, and what it is to have is known.
func (c *cycle) awaitsWhole(j *state.Job, why state.Wait) bool {
	if why.Code != state.WaitServerShort && why.Code != state.WaitQueueShort || why.Never || c.adrift == mostHopeless {
		return false
	}
	if _, short := c.unmatched(j); short {
		return false
	}
	if _, short := c.overDynamic(j); short {
		return false
	}
	limits := only(c.limiter.runLimits(c.view, j), func(l state.Limit) bool { return !l.Offer })
	_, reached := c.view.Reached(limits, true, 1, func(l state.Limit) int64 {
		return c.limiter.planned[limited{l.Subject, l.Queue, l.Resource}]
	})
	return !reached
}

// waitWhole makes the job a top job, if it is one, or lets nothing pass it.
func (c *cycle) waitWhole(j *state.Job, cl *class, why state.Wait) {
	if c.awaitsWhole(j, why) && c.hasTurn(j, cl) && !c.top(j, cl, why) {
		c.adrift++
	}
}
