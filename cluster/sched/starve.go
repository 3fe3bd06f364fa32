package sched

import (
	"math"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

const (
	// mostHasty bounds the jobs that a cycle moves ahead of the others of their classes, and
	// mostAged the jobs that it examines to find them.
	mostHasty = 1000
	mostAged  = 4000

	// madeWay is how long a job for which a run was suspended comes before all others. If another job took the place, or
	// was promoted because the suspended run no longer counts for a soft limit, the suspension would be in vain.
	madeWay = pbs.Time(time.Minute)
)

// starveOf is max_starve, 0 without help_starving_jobs.
func starveOf(set settings) pbs.Time {
	if set.get("help_starving_jobs") == "False" {
		return 0
	}
	q, err := resource.Parse(resource.Time, set.get("max_starve"))
	if err != nil {
		return 0
	}
	return min(pbs.Time(q.Int()), math.MaxInt64/pbs.Time(time.Second)) * pbs.Time(time.Second)
}

// starves reports whether a job has waited for max_starve: for resources, where eligible time
// is counted, else since it could have started.
func (o *order) starves(j *state.Job) bool {
	if o.starve <= 0 || o.now-j.Eligible < o.starve || j.Eligible == 0 {
		return false
	}
	return !o.eligible || pbs.Time(j.Accrued.Seconds(o.now))*pbs.Time(time.Second) >= o.starve
}

// is tells what a job that waits is for preempt_prio, beside what its queue makes it.
func (o *order) is(j *state.Job) (is uint8) {
	if o.levels.asks(isStarving) && o.starves(j) {
		is |= isStarving
	}
	if o.shares != nil && o.levels.asks(isOverShare) && o.shares.over(o.shares.of(j)) {
		is |= isOverShare
	}
	return is
}

// hasten adds a line for each job that comes before the others of its class: those that runs were just suspended for,
// those that were preempted and are to start again, then those that starve, in the order in which they began to.
func (p *Planner) hasten(v *state.View, waits []line) []line {
	p.hasty, p.madeFor = nil, nil
	add := func(j *state.Job, haste int64) {
		if p.hasty == nil {
			p.hasty = map[*state.Job]bool{}
		}
		if p.hasty[j] {
			return
		}
		p.hasty[j] = true
		of := v.ClassOf(j)
		of.Wait = j.WaitKind()
		l := line{of: &of, class: p.class(v, &of), rank: p.order.rank(j), alone: true}
		l.begin(j)
		l.rank.haste = haste
		waits = append(waits, l)
	}
	for run := range v.Suspensions() {
		if by := run.Run.Preemption; by == nil || p.order.now < by.At || p.order.now-by.At > madeWay {
			continue
		}
		for _, way := range v.WaysOf(run) {
			if j, ok := v.Job(way.For); ok && j.Startable() && len(p.hasty) < mostHasty {
				add(j, math.MaxInt64-int64(run.Run.Preemption.At))
				waits[len(waits)-1].rank.cleared = true
				if p.madeFor == nil {
					p.madeFor = map[*state.Job]int{}
				}
				p.madeFor[j]++
			}
		}
	}
	for j := range v.Ousted() {
		if len(p.hasty) == mostHasty {
			p.order.starving = p.order.starve > 0
			return waits
		}
		add(j, math.MaxInt64-int64(j.Ousted.At))
	}
	if p.order.starve <= 0 {
		return waits
	}
	looks := 0
	for j := range v.Aged() {
		if looks++; p.order.now-j.Eligible < p.order.starve {
			break
		}
		if looks > mostAged || len(p.hasty) == mostHasty {
			p.order.starving = true // or not: nobody looks
			break
		}
		if p.order.starves(j) {
			p.order.starving = true
			add(j, int64(p.order.now-j.Eligible))
		}
	}
	return waits
}
