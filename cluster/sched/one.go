package sched

import (
	"rampart/fsm/state"
)

// PlaceOne finds vnodes for a job that is to start at somebody's wish, whatever its queue,
// its turn and the limits say. Without room it says why.
func PlaceOne(v *state.View, j *state.Job) (execVnode, why string) {
	p := NewPlanner()
	p.prepare(v, v.Now())
	place, _ := j.Resources.Get("place")
	cl := p.class(v, &state.Class{Select: j.SchedSelect, Place: place, Queue: j.Queue})
	c := p.begin(v, v.Now())
	if placed, ok := c.free.placeFor(j, cl); ok {
		return placed.String(), ""
	}
	return "", c.why(cl).wait.Text()
}
