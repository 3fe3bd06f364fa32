package sched

import (
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Plan is what one cycle wants to happen.
type Plan struct {
	Starts   []Start
	Comments []Comment
	Lines    []Line // for the scheduler's log, bounded
	More     bool   // more jobs could start than one cycle takes
}

// A Start gives vnodes to a job.
type Start struct {
	Job       pbs.JobID
	Select    string // of the job when it was planned
	ExecVnode string
}

// A Comment tells a job's owner why it does not run.
type Comment struct {
	Job  pbs.JobID
	Text string
}

// A Line is one entry of the scheduler's log.
type Line struct {
	Event uint16
	Job   pbs.JobID
	Text  string
}

// limits bound one cycle, so that a freed vnode does not wait for a long one.
type limits struct {
	starts, comments, lines int
	// exact is how many waiting jobs get their comment renewed when only its numbers
	// have changed.
	exact int
}

var usual = limits{starts: 1000, comments: 1000, lines: 2000, exact: 100}

// The events of the scheduler's log lines.
const (
	logSched = 0x0040
	logDebug = 0x0080
)

// Comments with fixed words.
const (
	severalHosts = "Not Running: jobs over several hosts are not yet supported"
	notStarted   = "Not Running: Queue not started."
	noNodes      = "Not Running: Not enough free nodes available"
	neverLine    = "Job will never run with the resources currently configured in the complex"
)

// Make plans one cycle from nothing but the view. See Planner.
func Make(v *state.View, now pbs.Time) Plan { return NewPlanner().Plan(v, now) }

type cycle struct {
	limits
	view    *state.View
	now     pbs.Time
	planner *Planner
	free    *world                 // what is left as jobs are placed
	idle    *world                 // as if nothing ran; there when the first job does not fit
	queues  map[pbs.QueueName]bool // whether it is started
	reasons map[*class]*reason
	plan    Plan
	waiting int
}

// run looks at the queued jobs in their order, but at no more of a class than
// there is to say of it.
func (c *cycle) run(waits lines) {
	for len(waits) > 0 {
		first := waits[0]
		if c.saidAll(first) {
			waits.leave()
			continue
		}
		if len(c.plan.Starts) == c.starts {
			c.plan.More = true
			return
		}
		c.consider(first.job, first.class)
		if next, ok := c.view.NextOf(first.of, first.job); ok {
			waits.advance(next)
		} else {
			waits.leave()
		}
	}
}

// saidAll tells whether nothing would come of looking at the first job of a line,
// or any behind it: they cannot start, and their comments say why.
func (c *cycle) saidAll(l line) bool {
	comment := notStarted
	if c.started(l.of.Queue) {
		why, tried := c.reasons[l.class]
		if !tried {
			return false
		}
		comment = why.comment
	}
	return len(c.plan.Comments) >= c.comments || c.waiting >= c.exact && l.of.Reason == state.CommentReason(comment)
}

// A reason says why a class cannot start now.
type reason struct {
	comment string
	lines   []string
}

// consider starts a job or says why not. A job whose earlier runs are not
// confirmed to be over must not start, whatever is free (L2).
func (c *cycle) consider(j *state.Job, cl *class) {
	if len(j.Unconfirmed) > 0 || c.now < j.Eligible+pause(j.FailedRuns) {
		return
	}
	if !c.started(j.Queue) {
		c.explain(j, notStarted)
		return
	}
	why, tried := c.reasons[cl]
	if !tried {
		c.log(logDebug, j.ID, "Considering job to run")
		placed, ok := c.free.place(cl)
		if ok {
			c.plan.Starts = append(c.plan.Starts, Start{Job: j.ID, Select: j.SchedSelect, ExecVnode: placed.String()})
			return
		}
		why = c.why(cl)
		c.reasons[cl] = why
		for _, text := range why.lines {
			c.log(logSched, j.ID, text)
		}
	}
	c.explain(j, why.comment)
}

// pause is how long a job waits after starts that came to nothing: the first few
// are tried again at once, for they may have met a mom that was going down; then
// ever later, so that a mom that is ill (a full disk) does not use up its tries.
func pause(failed uint32) pbs.Time {
	const atOnce, longest = 3, 6 // doublings of a second
	if failed < atOnce {
		return 0
	}
	return pbs.Time(time.Second) << min(failed-atOnce+1, longest)
}

// started looks a queue up once: a cycle sees very many jobs of a few queues.
func (c *cycle) started(name pbs.QueueName) bool {
	started, known := c.queues[name]
	if !known {
		q, ok := c.view.Queue(name)
		started = ok && q.Started
		c.queues[name] = started
	}
	return started
}

// explain proposes a comment if it says something new. Of jobs far down the
// queue one that differs in its numbers only is left as it is: else every start
// would rewrite the comments of all.
func (c *cycle) explain(j *state.Job, text string) {
	c.waiting++
	if j.Comment == text || len(c.plan.Comments) >= c.comments {
		return
	}
	if c.waiting > c.exact && state.CommentReason(j.Comment) == state.CommentReason(text) {
		return
	}
	c.plan.Comments = append(c.plan.Comments, Comment{Job: j.ID, Text: text})
}

func (c *cycle) log(event uint16, job pbs.JobID, text string) {
	if len(c.plan.Lines) < c.lines {
		c.plan.Lines = append(c.plan.Lines, Line{event, job, text})
	}
}
