package sched

import (
	"container/heap"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A Planner plans one cycle after the other. It keeps what it has read of vnodes
// and requests, and reads again only what has changed; what it plans does not
// depend on what it keeps. One goroutine uses it.
type Planner struct {
	limits
	custom  []resource.Def  // of the view that it has seen last
	tied    []pbs.QueueName // queues with vnodes of their own, in that view
	classes map[key]*class
	cycle   uint64
	all     *world // free and full, as in the view
	scratch *world // of the cycle: jobs are placed here
	idle    *world // nil before it was needed
	idleAge uint64 // changes of idle that may change what fits there
}

// NewPlanner returns a planner that knows nothing yet.
func NewPlanner() *Planner { return &Planner{limits: usual, classes: map[key]*class{}} }

// Plan plans one cycle: jobs by priority, then in the order of their submission;
// vnodes in the order of their creation. When a job does not fit, no job with the
// same request is tried.
func (p *Planner) Plan(v *state.View, now pbs.Time) Plan {
	waits := p.prepare(v)
	n := len(waits)
	c := p.begin(v, now)
	c.run(waits)
	p.forget(n)
	return c.plan
}

// prepare brings what the planner keeps up to the view.
func (p *Planner) prepare(v *state.View) lines {
	p.cycle++
	if custom := slices.Collect(v.CustomResources()); !slices.Equal(custom, p.custom) {
		p.custom, p.classes, p.all, p.idle = custom, map[key]*class{}, nil, nil
	}
	if p.all == nil || !p.all.follow(v) {
		p.all = newWorld(v, false)
	}
	if tied := p.all.tied(); !slices.Equal(tied, p.tied) {
		p.tied, p.classes = tied, map[key]*class{}
	}
	var waits lines
	for of, j := range v.Classes() {
		waits = append(waits, line{of, j, p.class(v, of)})
	}
	heap.Init(&waits)
	return waits
}

// class returns the request of a class, parsed when it is new, and makes sure that
// the columns are there that it asks for.
func (p *Planner) class(v *state.View, of *state.Class) *class {
	k := p.key(of.Select, of.Place, of.Queue)
	c, ok := p.classes[k]
	if !ok {
		c = newClass(k, v)
		p.classes[k] = c
	}
	if c.cycle != p.cycle {
		c.cycle = p.cycle
		for _, n := range c.sums {
			p.all.column(n.def)
		}
	}
	return c
}

func (p *Planner) begin(v *state.View, now pbs.Time) *cycle {
	p.scratch = p.all.copyTo(p.scratch)
	return &cycle{
		limits: p.limits, view: v, now: now, planner: p, free: p.scratch,
		queues: map[pbs.QueueName]bool{}, reasons: map[*class]*reason{}, limiter: newLimiter(), rooms: map[uint64]*int{},
	}
}

// forget lets go of the view, which would keep its records in memory, and of
// classes that no job has any more, when they are many.
func (p *Planner) forget(lines int) {
	for _, w := range []*world{p.all, p.scratch, p.idle} {
		if w != nil {
			w.view = nil
		}
	}
	if len(p.classes) < 2*lines+100 {
		return
	}
	for k, c := range p.classes {
		if c.cycle != p.cycle {
			delete(p.classes, k)
		}
	}
}

// empty returns the world of the view as if nothing ran.
func (p *Planner) empty(v *state.View) *world {
	if p.idle == nil || !p.idle.follow(v) {
		p.idle = newWorld(v, true)
		p.idleAge++
	}
	if p.idle.offersNew {
		p.idle.offersNew = false
		p.idleAge++
	}
	return p.idle
}

// A line are the jobs of one class that were not considered yet.
type line struct {
	of    *state.Class
	job   *state.Job // the first of them
	class *class
}

// lines is a heap: the job to be considered next comes first.
type lines []line

func (l lines) Len() int           { return len(l) }
func (l lines) Less(i, j int) bool { return state.Before(l[i].job, l[j].job) }
func (l lines) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *lines) Push(x any) { *l = append(*l, x.(line)) }

// Pop implements heap.Interface.
func (l *lines) Pop() any {
	last := len(*l) - 1
	gone := (*l)[last]
	*l = (*l)[:last]
	return gone
}

// leave drops the first line.
func (l *lines) leave() { heap.Pop(l) }

// advance moves the first line on to its next job.
func (l *lines) advance(next *state.Job) {
	(*l)[0].job = next
	heap.Fix(l, 0)
}
