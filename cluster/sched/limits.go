package sched

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// limiter keeps to the limits of server and queues within one cycle: what it has planned
// counts beside what the view says.
type limiter struct {
	queues  map[pbs.QueueName]bool // whether a limit may apply to the jobs of a queue
	routing map[pbs.QueueName]bool // whether a queue routes
	planned map[limited]int64
	held    map[state.Class]string // comments of classes that are at a limit; no start in a cycle frees one
}

// limited is what a limit counts.
type limited struct {
	subject  state.Subject
	queue    pbs.QueueName
	resource string
}

func newLimiter() limiter {
	return limiter{queues: map[pbs.QueueName]bool{}, routing: map[pbs.QueueName]bool{}, planned: map[limited]int64{}, held: map[state.Class]string{}}
}

// applies tells whether a limit may apply to the jobs of a queue.
func (l *limiter) applies(v *state.View, queue pbs.QueueName) bool {
	applies, known := l.queues[queue]
	if !known {
		applies = v.Limited(queue)
		l.queues[queue] = applies
	}
	return applies
}

// routes tells whether no job runs from a queue: it routes them on.
func (l *limiter) routes(v *state.View, queue pbs.QueueName) bool {
	routes, known := l.routing[queue]
	if !known {
		q, ok := v.Queue(queue)
		routes = ok && q.Routes()
		l.routing[queue] = routes
	}
	return routes
}

// holds returns the comment of a class whose jobs are at a limit already.
func (l *limiter) holds(of state.Class) (comment string, held bool) {
	if len(l.held) == 0 {
		return "", false
	}
	of.Reason = ""
	comment, held = l.held[of]
	return comment, held
}

// reached returns the comment of a job that has to wait for a limit, "" for others. It is
// logged once for all jobs of a class.
func (c *cycle) reached(j *state.Job, id pbs.JobID) string {
	if !c.limiter.applies(c.view, j.Queue) {
		return ""
	}
	of := c.view.ClassOf(j)
	if comment, held := c.limiter.holds(of); held {
		return comment
	}
	text := c.overLimit(j)
	if text == "" {
		return ""
	}
	c.log(logSched, id, text)
	c.limiter.held[of] = "Not Running: " + text
	return c.limiter.held[of]
}

// overLimit says why one job more like j is too many, "" if it is not.
func (c *cycle) overLimit(j *state.Job) string {
	if name := c.view.Unmatched(j); name != "" {
		return "Insufficient amount of resource: " + name
	}
	return c.view.Reached(c.view.RunLimits(j), true, 1, func(l state.Limit) int64 {
		return c.limiter.planned[limited{l.Subject, l.Queue, l.Resource}]
	})
}

// planned counts a job that is about to start.
func (c *cycle) planned(j *state.Job) {
	if !c.limiter.applies(c.view, j.Queue) {
		return
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
