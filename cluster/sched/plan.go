package sched

import (
	"math"
	"slices"
	"strconv"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Plan is what one cycle wants to happen.
type Plan struct {
	// Decisions are proposed before all else: who gets vnodes later has them kept from the jobs that start.
	Decisions []*command.DecideReservation
	// Again is when other vnodes are looked for next for a reservation that has lost some; 0: that is not known.
	Again pbs.Time

	Starts   []Start
	Resumes  []pbs.JobID // suspended jobs for which there is room again
	Preempts []Preempt

	LoadStops []LoadStop

	Comments []Comment
	Withheld bool   // there was more to tell than a sparing planner tells
	Lines    []Line // for the scheduler's log, bounded
	More     bool   // more jobs could start than one cycle takes
	Late     bool   // the time of a cycle was over before all jobs were looked at

	// Pending is what has changed of what is kept for jobs that wait; nil: nothing has.
	Pending *command.KeepPending
	// Turn is when the next dispatch turn is due; 0: nobody counts them.
	Turn pbs.Time

	// Fade is when runs hold less of what they hold for a time only, and somebody waits; 0: nobody does, or nothing is held so.
	Fade pbs.Time

	// Paused is when the first of those is due that are passed over after starts that came to nothing; 0: there are none.
	Paused pbs.Time
}

// A Start gives vnodes to a job.
type Start struct {
	Job       pbs.JobID
	Select    string // of the job when it was planned
	More      string // Job.More then
	ExecVnode string
	Choice    int // which of the alternatives of the job was placed

	// Backfills is set if it passes a job for which room is kept at a later time.
	Backfills bool

	changes []command.AttrChange // by shrinking it to fit, and by the hooks of runjob
}

// Command returns what starts the job in a state that the start was planned on: the limits of server and queue, and all of its
// request, are looked at again.
func (s Start) Command(v *state.View) *command.StartJob { return s.command(runTime(v)) }

func (s Start) command(when string) *command.StartJob {
	return &command.StartJob{
		Job: s.Job, Select: s.Select, ExecVnode: s.ExecVnode, WithinLimits: true, Comment: runComment(when, s.ExecVnode),
		Changes: s.changes, Choice: s.Choice, More: s.More,
	}
}

// runComment is the comment of a job that runs.
func runComment(when, execVnode string) string { return "Job run at " + when + " on " + execVnode }

// A Comment tells a job's owner why it does not run.
type Comment struct {
	Job pbs.JobID
	Why state.Wait

	Start     pbs.Time // when it is expected to start; 0: that is not said
	ExecVnode string   // where

	Top    command.TopMark
	Forget bool // it is not known any more when it starts
}

func (c *Comment) wait() command.JobWait {
	return command.JobWait{Job: c.Job, Start: c.Start, ExecVnode: c.ExecVnode, Top: c.Top, Forget: c.Forget}
}

// A Line is one entry of the scheduler's log.
type Line struct {
	Event uint16
	Job   pbs.JobID
	Text  string

	Class, Object string // of what is no job
}

// limits bound one cycle, so that a freed vnode does not wait for a long one.
type limits struct {
	starts, comments, lines int
	// exact is how many waiting jobs get their comment renewed when only its numbers
	// have changed.
	exact int
}

var usual = limits{starts: 1000, comments: 250, lines: 1000, exact: 100}

// neverLine follows in the log what no job of the class can have.
const neverLine = "Job will never run with the resources currently configured in the complex"

// subjobLimit is logged of an array of which no more subjobs may run.
const subjobLimit = "Number of concurrent running subjobs limit reached"

// because returns the reason that has no arguments.
func because(code state.WaitCode) state.Wait { return state.Wait{Code: code} }

type cycle struct {
	limits
	view       *state.View
	now        pbs.Time
	planner    *Planner
	order      *order
	free       *world                 // what is left as jobs are placed
	idle       *world                 // as if nothing ran; there when the first job does not fit
	queues     map[pbs.QueueName]bool // whether it is started
	reasons    map[*class]*reason
	limiter    limiter
	shared     shared
	rooms      map[uint64]*int // of arrays, by sequence number: how many more subjobs may run
	plan       Plan
	placed     int // tries to find vnodes
	timed      int // those that late had seen when it asked for the time
	waiting    int
	softs      map[pbs.QueueName]bool // whether there are soft limits on the jobs of a queue
	fills      map[pbs.QueueName]bool // whether its jobs may use what others are to have later
	beyond     uint8                  // soft limits that the job under consideration is over
	cleared    bool                   // runs were just suspended for it
	score      float64                // its value of job_sort_formula, by which it has its turn
	yields     uint8                  // soft limits to which an array has come with its last subjob
	tops       []top
	ends       pbs.Time                     // when the job is expected to end that was given vnodes last
	foreseen   map[pbs.JobID]bool           // jobs that have their start foretold in this cycle: whether they are tops
	topsOf     map[pbs.QueueName]int        // tops that count towards the depth of a queue, or of all that have none
	hopeless   map[*class]bool              // classes for which there is none
	adrift     int                          // jobs for which there is none beyond a time that is not for them
	blocked    map[pbs.QueueName]*state.Job // of queues, or of all that have no depth of their own, of which nothing more starts, the job that waits and that nothing may pass
	begun      map[uint64]uint32            // of arrays, by sequence number: index of the first subjob that was not planned
	outrun     map[pbs.JobID]bool           // of whose set (runone) another one was planned
	hours      *hours
	wish       *state.Job  // the one job of which an operator wants that it starts; nil: it is a cycle of the scheduler
	preemption *preemption // nil: nobody had to be preempted yet
	lowly      *int64      // the lowest level of a running job; nil: it was not looked up yet
	standing   int         // suspended jobs that stay so
	stopped    []stopped   // suspended jobs that wait to be resumed and were not looked at, in their order
	future     *future
	wholes     wholes
	insides    map[pbs.QueueName]*inside
	bare       *world // on which nothing is held; nil: it was not needed yet
	passing    passing

	reserving *reserving // nil: no job keeps anything while it waits
}

// run looks at the queued jobs in their order, but at no more of a class than
// there is to say of it.
func (c *cycle) run(waits lanes) {
	c.decide()
	c.stopped = c.suspensions()
	c.openFor(c.stopped)
	for lane := c.next(&waits); lane != nil; lane = c.next(&waits) {
		first := *lane.lines.first()
		if !first.rank.cleared {
			c.resume(first.rank.level)
		}
		c.cleared = first.rank.cleared
		c.yields, c.beyond, c.score = 0, first.rank.over, first.rank.score
		switch {
		case c.late():
			return
		case c.saidAll(first):
			lane.lines.leave()
			continue
		case !first.alone && c.planner.hasty[first.job]:
			lane.lines.advance(c.view) // it had its turn
			continue
		case len(c.plan.Starts) == c.starts:
			c.plan.More = true
			return
		}
		if over := c.overFirst(first); over != 0 {
			lane.lines.recede(c.order, over)
			continue
		}
		*lane.taken++
		c.limiter.first, c.limiter.class = first.job, first.of
		if c.consider(first.job, first.class); c.yields != 0 {
			lane.lines.recede(c.order, c.yields) // the rest of an array
			continue
		}
		if c.restSaid(first) {
			lane.lines.leave()
			continue
		}
		lane.lines.advance(c.view)
	}
	c.resume(math.MinInt64)
}

// overFirst tells which soft limits the first job of a line is over, if that was not found out yet.
func (c *cycle) overFirst(first line) uint8 {
	if first.rank.over != 0 || c.inside(first.of.Queue) != nil || !c.soft(first.of.Queue) {
		return 0
	}
	return c.over(first.job)
}

// late reports whether the time of a cycle is over. It always has time for one job, or one that
// takes long would keep all others from being looked at for ever.
func (c *cycle) late() bool {
	if !c.plan.Late && c.timed < c.placed && c.planner.late != nil {
		c.timed, c.plan.Late = c.placed, c.planner.late()
	}
	return c.plan.Late
}

// saidAll reports whether nothing would come of looking at the first job of a line,
// or any behind it: they cannot start, and their comments say why.
func (c *cycle) saidAll(l line) bool {
	if c.limiter.routes(c.view, l.of.Queue) {
		return true // its jobs are on their way to other queues
	}
	why, tried := c.reasons[l.class]
	wait, held := c.limiter.holds(*l.of)
	switch in := c.inside(l.of.Queue); {
	case in != nil && !in.runs:
		wait = because(state.WaitQueueStopped)
	case in != nil && (tried || held):
		if tried {
			wait = why.wait
		}
	case in != nil:
		return false
	case !c.started(l.of.Queue):
		wait = because(state.WaitQueueStopped)
	case c.hours.shut(l.of.Queue) != 0:
		wait = because(c.hours.shut(l.of.Queue))
	case c.stands(l.of.Queue):
		wait = because(state.WaitOrder)
	case tried && !why.wait.Never && (c.mayWait(l.job, l.class) || !held && c.mayPreempt(l.job, l.class)):
		return false // it may be a top job, or have others preempted
	case held && c.mayWait(l.job, l.class) && c.awaitsWhole(l.job, wait):
		return false // it may be a top job
	case tried && !why.wait.Never && c.mayKeep(l.job, l.job.Queue, l.class):
		return false // it may keep something
	case tried:
		wait = why.wait
	case !held, c.mayKeep(l.job, l.job.Queue, l.class):
		return false
	}
	return c.mute() || c.waiting >= c.exact && l.of.Wait == wait.Kind()
}

// restSaid reports whether saidAll will be true of the next job of a line, whichever it is: then that job need not be found.
func (c *cycle) restSaid(l line) bool {
	why, tried := c.reasons[l.class]
	if !tried {
		return c.allTooLong(l) || c.allKeptFrom(l)
	}
	if !why.wait.Never && c.mayKeep(nil, l.of.Queue, l.class) {
		return false
	}
	if c.limiter.routes(c.view, l.of.Queue) || c.inside(l.of.Queue) != nil || !c.started(l.of.Queue) || c.hours.shut(l.of.Queue) != 0 || c.stands(l.of.Queue) {
		return false
	}
	if !why.wait.Never && (c.plansForAny() && c.mayPromise(l.of.Queue, l.class) || c.anyMayPreempt(l.of.Queue)) {
		return false
	}
	return c.mute() || c.waiting >= c.exact && l.of.Wait == why.wait.Kind()
}

// A reason says why a class cannot start now.
type reason struct {
	wait state.Wait
}

// logConsidered tells that a job is looked at, and its score. Of jobs far down the queue only those do that may start.
func (c *cycle) logConsidered(j *state.Job, id pbs.JobID) {
	c.log(pbs.LogDebug, id, "Considering job to run")
	if c.order.formula != nil {
		c.log(pbs.LogDebug2, id, "Formula Evaluation = "+digits(c.score))
	}
}

// low reports whether the score of the job under consideration keeps it from starting.
func (c *cycle) low() bool { return c.order.bounded && c.score <= c.order.threshold }

// mostDigits is how many decimals of a score are printed, noDigit what is taken for nothing behind them.
const (
	mostDigits = 4
	noDigit    = 1e-9
)

// digits prints a score as PBS does: with as many decimals as it has, of which four at most. That the last of them may be 0 says that
// more would follow.
func digits(score float64) string {
	n, rest := 0, math.Abs(score)
	for ; n < mostDigits && math.Abs(rest-math.Round(rest)) > noDigit*max(1, rest); n++ {
		rest *= 10
	}
	return strconv.FormatFloat(score, 'f', n, 64)
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
// would rewrite the comments of all. That of an array says when it began.
func (c *cycle) explain(j *state.Job, why state.Wait) {
	c.waiting++
	if j.State != pbs.Queued || j.Says(why, c.waiting > c.exact) || c.mute() {
		return
	}
	c.tell(Comment{Job: j.ID, Why: why})
	if c.waiting <= c.exact && !c.logged(j) {
		c.logWhy(j.ID, why)
	}
}

// logWhy logs why a job waits.
func (c *cycle) logWhy(id pbs.JobID, why state.Wait) {
	if len(c.plan.Lines) == c.lines {
		return // the words need not be made
	}
	c.log(pbs.LogSched, id, why.Text())
	if why.Never {
		c.log(pbs.LogSched, id, neverLine)
	}
}

// logged reports whether the log has said what is wrong with the job, or with a subjob of it, since it is under consideration.
func (c *cycle) logged(j *state.Job) bool {
	for _, l := range slices.Backward(c.plan.Lines) {
		if l.Class == "" && l.Job != j.ID && l.Job.Parent() != j.ID {
			return false
		}
		if l.Class == "" && l.Event == pbs.LogSched {
			return true
		}
	}
	return false
}

func (c *cycle) log(event uint16, job pbs.JobID, text string) {
	c.say(Line{Event: event, Job: job, Text: text})
}

// logOf is log of what is no job.
func (c *cycle) logOf(event uint16, class, object, text string) {
	c.say(Line{Event: event, Class: class, Object: object, Text: text})
}

func (c *cycle) say(l Line) {
	if len(c.plan.Lines) == c.lines {
		return
	}
	if c.plan.Lines == nil {
		c.plan.Lines = make([]Line, 0, min(c.lines, c.planner.said+1)) // there are about as many as before
	}
	c.plan.Lines = append(c.plan.Lines, l)
}
