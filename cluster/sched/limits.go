package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// limiter keeps to the limits of server and queues within one cycle: what it has planned
// counts beside what the view says.
type limiter struct {
	queues  map[pbs.QueueName]bool // whether a limit may apply to the jobs of a queue
	routing map[pbs.QueueName]bool // whether a queue routes
	planned map[limited]int64
	held    map[state.Class]state.Wait // reasons of classes that are at a limit; no start in a cycle frees one

	first  *state.Job   // that is looked at
	class  *state.Class // of it, as the state has it
	of     *state.Job   // whose limits these are
	limits []state.Limit
}

// limited says what a limit counts.
type limited struct {
	subject  state.Subject
	queue    pbs.QueueName
	resource string
}

func newLimiter() limiter {
	return limiter{queues: map[pbs.QueueName]bool{}, routing: map[pbs.QueueName]bool{}, planned: map[limited]int64{}, held: map[state.Class]state.Wait{}}
}

// applies reports whether a limit may apply to the jobs of a queue.
func (l *limiter) applies(v *state.View, queue pbs.QueueName) bool {
	applies, known := l.queues[queue]
	if !known {
		applies = v.Limited(queue)
		l.queues[queue] = applies
	}
	return applies
}

// routes reports whether no job runs from a queue: it routes them on.
func (l *limiter) routes(v *state.View, queue pbs.QueueName) bool {
	routes, known := l.routing[queue]
	if !known {
		q, ok := v.Queue(queue)
		routes = ok && q.Routes()
		l.routing[queue] = routes
	}
	return routes
}

// holds returns why the jobs of a class wait that are at a limit already.
func (l *limiter) holds(of state.Class) (why state.Wait, held bool) {
	if len(l.held) == 0 {
		return why, false
	}
	of.Wait = state.Wait{}
	why, held = l.held[of]
	return why, held
}

// runLimits returns the limits that apply to a job of a view that is to run. They are asked for several times of one job after the other; nobody
// changes them.
func (l *limiter) runLimits(v *state.View, j *state.Job) []state.Limit {
	if l.of != j {
		l.of, l.limits = j, v.RunLimits(j)
	}
	return l.limits
}

// classOf returns the class of a job, whatever it waits for.
func (l *limiter) classOf(v *state.View, j *state.Job) state.Class {
	if l.first != j {
		return v.ClassOf(j)
	}
	of := *l.class
	of.Wait = state.Wait{}
	return of
}

// only returns those limits, without those that are not meant.
func only(all []state.Limit, meant func(l state.Limit) bool) (some []state.Limit) {
	for _, l := range all {
		if meant(l) {
			some = append(some, l)
		}
	}
	return some
}

// reached returns the limit for which a job has to wait, if it has to. It is logged once for
// all jobs of a class.
func (c *cycle) reached(j *state.Job, id pbs.JobID) (why state.Wait, reached bool) {
	if !c.limiter.applies(c.view, j.Queue) && len(c.planner.dynamic) == 0 {
		return why, false
	}
	of := c.limiter.classOf(c.view, j)
	if why, held := c.limiter.holds(of); held {
		return why, true
	}
	if why, reached = c.overSlots(j); !reached {
		why, reached = c.overLimit(j)
	}
	if reached {
		c.limiter.held[of] = why
	} else if why, reached = c.overReserved(j); !reached { // a shorter job of the class may be none
		if !c.overPromised(j) {
			return why, false
		}
		why = because(state.WaitTop)
	}
	c.log(pbs.LogSched, id, why.Text())
	return why, true
}

// atSlots reports whether a job waits for a limit on slots alone, up to which it may keep some.
func (c *cycle) atSlots(j *state.Job, why state.Wait) bool {
	if why.Code == state.WaitSlots && why.Resource != "" { // of another amount
		return false
	}
	if _, unmatched := c.view.Unmatched(j); unmatched || why.Code != state.WaitSlots && (why.Code != state.WaitLimit || why.Request == "") {
		return false
	}
	limits := slices.DeleteFunc(c.view.RunLimits(j), func(l state.Limit) bool { return l.Queue != "" && l.Resource == "ncpus" })
	_, other := c.view.Reached(limits, true, 1, func(l state.Limit) int64 {
		return c.limiter.planned[limited{l.Subject, l.Queue, l.Resource}]
	})
	return !other
}

// overLimit returns why one job more like j is too many, if it is.
func (c *cycle) overLimit(j *state.Job) (state.Wait, bool) {
	if why, unmatched := c.unmatched(j); unmatched {
		return why, true
	}
	if why, reached := c.view.Reached(c.limiter.runLimits(c.view, j), true, 1, func(l state.Limit) int64 {
		return c.limiter.planned[limited{l.Subject, l.Queue, l.Resource}]
	}); reached {
		return why, true
	}
	return c.overDynamic(j)
}

// unmatched returns why server or queue can never have the job: it asks for another value of a resource than they have, or for more of a
// number than they have of which nothing is consumed. Such numbers count where the scheduler's attribute resources names them.
func (c *cycle) unmatched(j *state.Job) (state.Wait, bool) {
	if why, unmatched := c.view.Unmatched(j); unmatched || c.planner.considered.named == nil {
		return why, unmatched
	}
	has := []struct {
		code   state.WaitCode
		offers resource.List
	}{{state.WaitServerShort, c.view.Server().Resources("resources_available")}, {code: state.WaitQueueShort}}
	if q, ok := c.view.Queue(j.Queue); ok {
		has[1].offers = q.Resources("resources_available")
	}
	for _, h := range has {
		for _, offer := range h.offers {
			text, asks := j.Resources.Get(offer.Name)
			def, known := c.view.Resource(offer.Name)
			_, dynamic := c.planner.dynamic[offer.Name]
			if !asks || !known || !boundsEach(def) || dynamic || !c.planner.considered.has(def) {
				continue
			}
			if need, most := def.Measure(text), def.Measure(offer.Value); need > most {
				return state.ShortOf(h.code, def, need, most, most), true
			}
		}
	}
	return state.Wait{}, false
}

// boundsEach reports whether what server or queue have of a number of the site bounds each job by itself: nothing of it is consumed.
func boundsEach(def resource.Def) bool {
	return !def.Builtin && def.Type.Numeric() && def.Flags&resource.PerQueue == 0 && !def.AtHost() && !def.AtVnodes()
}

// planned counts a job that is about to start.
func (c *cycle) planned(j *state.Job) {
	c.plannedDynamic(j)
	c.countWhole(j)
	c.plannedShared(j)
	c.plannedWhole(j)
	if !c.limiter.applies(c.view, j.Queue) {
		return
	}
	if j.Reservation != "" { // the server's limits do not hold it, and count it for others
		outside := *j
		outside.Reservation = ""
		j = &outside
	}
	counted := map[limited]bool{} // by two limits, maybe
	for _, l := range append(c.view.RunLimits(j), c.view.SoftLimits(j)...) {
		key := limited{l.Subject, l.Queue, l.Resource}
		if !counted[key] {
			c.limiter.planned[key] += l.Need
		}
		counted[key] = true
	}
}
