package sched

import (
	"math"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// wished is the level of a job that an operator starts: above all others.
const wished = math.MaxInt64

// PlaceOne finds vnodes for a job that an operator starts (qrun), regardless of its queue, its turn, limits and thresholds of load. It returns
// them, or else what has to be preempted for the job (nothing where enough is being preempted already), or else why the job cannot start.
// Loads has the loads of hosts; it may be nil.
func PlaceOne(v *state.View, j *state.Job, loads *Loads) (execVnode string, makeWay []*command.PreemptJob, why string) {
	v = v.At(v.Now(), nil)
	p := NewPlanner()
	p.loads, p.wishes = loads, true
	p.prepare(v, v.Now())
	place, _ := j.Resources.Get("place")
	cl := p.class(v, &state.Class{Select: j.SchedSelect, Place: place, Queue: j.Queue, More: j.More()})
	c := p.begin(v, v.Now())
	if in := c.inside(j.Queue); in != nil {
		if !in.runs {
			return "", nil, because(state.WaitQueueStopped).Text()
		}
		if placed, ok := in.world.placeFor(j, cl); ok {
			return placed.String(), nil, ""
		}
		return "", nil, in.why(cl).wait.Text()
	}
	placed, ok, fits := c.placeBeside(j, cl, c.planner.rows.walltime(j))
	if ok {
		return placed.String(), nil, ""
	}
	reason := c.why(cl)
	if fits {
		reason.wait = c.conflict(cl)
	}
	c.wish = j
	if reason.wait.Never || !c.preempt(j, cl) {
		return "", nil, reason.wait.Text()
	}
	for _, p := range c.plan.Preempts {
		waits := j.ID
		if _, recorded := v.Job(j.ID); !recorded {
			waits = j.ID.Parent()
		}
		makeWay = append(makeWay, &command.PreemptJob{Job: p.Job, RunCount: p.RunCount, Method: p.Method, For: waits, Wish: true})
	}
	return "", makeWay, ""
}

// spares reports whether a running job makes no way for the one that an operator wants to start: another subjob of its array.
func (c *cycle) spares(j *state.Job) bool { return c.wish != nil && j.Seq == c.wish.Seq }
