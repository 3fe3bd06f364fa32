package sched

import (
	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// An Explanation says why a queued job does not start: what it lacks, where, until when, and what would have to end.
type Explanation struct {
	Reason string // in PBS's words: what the scheduler has said, else what it would say; empty: vnodes are free for it
	Never  bool   // whatever ends, it will not start

	Start     pbs.Time // when it is to start at the earliest; 0: nobody knows
	Promised  bool     // the scheduler keeps that time for it; else those that come before it may take its vnodes
	ExecVnode string   // where

	// Shut is a time that is not for the job, such as dedicated time, or a job that it may not pass: it keeps the job waiting wherever
	// there is room.
	Shut *InTheWay
	// Counted are the runs that count for the limit, or hold the resource of server or queue, for which the job waits though vnodes are free.
	Counted     []InTheWay
	CountedMore int // further ones
	// Chunk is what the hosts that follow are looked at for, Chunks how many of it the job wants.
	Chunk      string
	Chunks     int
	Room       []string // vnodes of hosts that have room for one of them now
	Near       []Near   // hosts that have none, those that have it first come first
	More       int      // further ones
	Ineligible int      // hosts that can never have it
}

// Near is a host that has no room for a chunk.
type Near struct {
	Vnodes []string   // that may serve it
	Closed string     // their state, where none takes jobs
	Lacks  []Lack     // nothing: others use the host, and they or the job want it for themselves
	At     pbs.Time   // when it has room; 0: nobody knows
	Holds  []InTheWay // in the order of their ends
	Others int        // further holds
}

// Lack is a resource of which a host has too little.
type Lack struct{ Resource, Wants, Free, Total string }

// InTheWay is a hold of somebody else.
type InTheWay struct {
	Kind, By, Vnode, What string
	From, Until           pbs.Time // 0: it has begun; nobody knows its end
	Without               pbs.Time // when the job could start if this ended now; 0: no sooner, or that was not looked at

	kind calendar.Kind
}

const (
	mostNear  = 5   // hosts that are told of
	mostHolds = 10  // what is told of each
	mostEnds  = 500 // of holds on a host, at which it is looked at again
	mostAsked = 5   // of which it is found out what their end would change
)

// Explain says why a queued job does not start, as far as vnodes go. It reads a view, and what hosts say: nil if nobody hears them.
func Explain(v *state.View, j *state.Job, loads *Loads) *Explanation {
	o := newOutlook(v, v.Now(), loads)
	c, cl := o.cycle(j)
	e := &Explanation{}
	if j.Comment == "" && j.Wait != nil {
		e.Reason = j.Wait.Text()
	}
	array := j
	if j.IsSubjob() {
		array, _ = v.Parent(j)
	}
	if array != nil && array.Array != nil && array.Room() == 0 {
		e.Reason = subjobLimit
		return e
	}
	if in := c.inside(j.Queue); in != nil {
		c.explainInside(e, j, cl, in)
		return e
	}
	if e.Shut = c.notFor(j); e.Shut == nil {
		e.Shut = behind(v, j)
	}
	placed, ok, fits := c.placeBeside(j, cl, c.planner.rows.walltime(j))
	if ok {
		if e.Shut == nil {
			e.ExecVnode = placed.String()
			c.counted(e, j)
			if at := j.EstimatedStart(); at > c.now && at < c.now+unending/2 && len(e.Counted) > 0 {
				e.Start, e.Promised = at, true
			}
		}
		return e
	}
	why := c.why(cl).wait
	e.Never = why.Never
	if fits {
		why = c.conflict(cl)
	}
	if e.Reason == "" {
		e.Reason = why.Text()
	}
	if e.Never {
		c.look(e, j, cl, c.outside())
		return e
	}
	if at := j.EstimatedStart(); at > c.now {
		e.Promised = true
		where, _ := j.Attrs.Get("estimated", "exec_vnode")
		e.startsAt(c, at, where)
	} else if e.Shut == nil {
		if t, ok := c.estimate(j, cl, c.now); ok {
			e.startsAt(c, t.start, t.placed.String())
		}
	}
	c.look(e, j, cl, c.outside())
	o.withoutEach(e, j)
	return e
}

// withoutEach notes of those in the way when the job could start if that one ended now.
func (o *Outlook) withoutEach(e *Explanation, j *state.Job) {
	asked := map[string]pbs.Time{}
	for i := range e.Near {
		for k := range e.Near[i].Holds {
			h := &e.Near[i].Holds[k]
			if h.kind == calendar.Top {
				continue
			}
			at, known := asked[h.By]
			if !known && len(asked) < mostAsked {
				if fit, ok := o.Without(j, h.By); ok && fit.Start < o.now+unending/2 && (e.Start == 0 || fit.Start < e.Start) {
					at = fit.Start
				}
				asked[h.By] = at
			}
			h.Without = at
		}
	}
}

// startsAt notes when and where the job is to start, unless that counts on the end of runs without a walltime.
func (e *Explanation) startsAt(c *cycle, at pbs.Time, where string) {
	if at < c.now+unending/2 {
		e.Start, e.ExecVnode = at, where
	}
}

// notFor returns the time that keeps a job waiting, nil if it is not the hour.
func (c *cycle) notFor(j *state.Job) *InTheWay {
	h := c.hours
	switch h.shut(j.Queue) {
	case state.WaitDedicated:
		if h.dedicated {
			return &InTheWay{Kind: "dedicated time", From: h.begins, Until: h.ends}
		}
		return &InTheWay{Kind: "no dedicated time", Until: h.begins}
	case state.WaitPrime:
		return &InTheWay{Kind: "nonprime time", Until: h.turns}
	case state.WaitNonprime:
		return &InTheWay{Kind: "prime time", Until: h.turns}
	}
	switch h.crosses(j) {
	case state.WaitCrossDedicated:
		if h.dedicated {
			return &InTheWay{Kind: "end of dedicated time", From: h.ends}
		}
		return &InTheWay{Kind: "dedicated time", From: h.begins, Until: h.ends}
	case state.WaitCrossPrime:
		return &InTheWay{Kind: "prime time", From: h.turns}
	case state.WaitCrossNonprime:
		return &InTheWay{Kind: "nonprime time", From: h.turns}
	}
	return nil
}

// behind returns the job that waits before another one, and that nothing may pass; nil: there is none.
func behind(v *state.View, j *state.Job) *InTheWay {
	v = v.At(v.Now(), nil)
	p := NewPlanner()
	waits := p.prepare(v, v.Now())
	c := p.begin(v, v.Now())
	whose, depth := c.depth(j.Queue)
	if depth > 0 || !c.plansForAny() {
		return nil
	}
	c.run(newLanes(waits, p.lineup.sorted, &p.order))
	first := c.blocked[whose]
	if first == nil || first.Seq == j.Seq || !c.order.passes(first, j) {
		return nil
	}
	return &InTheWay{Kind: "nothing may pass the job before it", By: string(first.ID)}
}

// passes reports whether a job is considered before another one, as far as no soft limits count.
func (o *order) passes(j, other *state.Job) bool {
	of := func(j *state.Job) *line {
		l := &line{rank: o.rank(j)}
		l.begin(j)
		if o.starves(j) {
			l.rank.haste = int64(o.now - j.Eligible)
		}
		return l
	}
	return of(j).before(of(other))
}

// explainInside is Explain for a job of a reservation.
func (c *cycle) explainInside(e *Explanation, j *state.Job, cl *class, in *inside) {
	if !in.runs {
		if e.Reason == "" {
			e.Reason = because(state.WaitQueueStopped).Text()
		}
		if in.of.Start > c.now {
			e.Start = in.of.Start
		}
		return
	}
	if placed, ok := in.world.placeFor(j, cl); ok {
		e.ExecVnode = placed.String()
		return
	}
	why := in.why(cl).wait
	if e.Never = why.Never; e.Reason == "" {
		e.Reason = why.Text()
	}
	c.look(e, j, cl, c.sightOf(in))
}
