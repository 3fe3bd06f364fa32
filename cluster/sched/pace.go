package sched

import (
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// pause is how long a job waits after starts that came to nothing. The first few are tried again at once, for they may have met
// a mom that was going down; then at PBS's pace, which has a job that nobody can start held within half a minute.
func pause(failed uint32) pbs.Time {
	const atOnce = 3
	if failed < atOnce {
		return 0
	}
	return pbs.Time(time.Second)
}

// paused reports whether a job, or the array that it is or belongs to, is passed over because its last starts came to nothing: what
// fails one subjob will fail the others. The plan says when it is due, for nothing may change until then.
func (c *cycle) paused(j *state.Job) bool {
	due := j.Eligible + pause(j.FailedRuns)
	parent := j
	if j.IsSubjob() {
		parent, _ = c.view.Parent(j)
	}
	if parent != nil && parent.Array != nil {
		due = max(due, parent.Array.FruitlessAt+pause(parent.Array.Fruitless))
	}
	if c.now+c.planner.ahead >= due {
		return false
	}
	c.plan.pause(due)
	return true
}

// pause has jobs looked at again at a time, if it is one.
func (p *Plan) pause(due pbs.Time) {
	if due != 0 && (p.Paused == 0 || due < p.Paused) {
		p.Paused = due
	}
}

// A pacer says how far the time of this process is ahead of a state in which nothing is committed.
type pacer struct {
	time pbs.Time  // of the last state
	seen time.Time // when that was seen first
}

// ahead returns how much later it is than a state says.
func (p *pacer) ahead(v *state.View) pbs.Time {
	if now := v.Now(); now != p.time || p.seen.IsZero() {
		p.time, p.seen = now, time.Now()
	}
	return pbs.Time(time.Since(p.seen))
}

// due returns when the paused jobs of a plan are to be looked at again, the next dispatch turn is, or runs hold less: forever if there is none of these.
func (p *pacer) due(plan Plan) time.Duration {
	due := forever
	for _, at := range [...]pbs.Time{plan.Paused, plan.Turn, plan.Fade} {
		if at != 0 {
			due = min(due, max(time.Millisecond, time.Duration(at-p.time)-time.Since(p.seen)))
		}
	}
	return due
}
