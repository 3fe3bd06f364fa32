package sched

import (
	"slices"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A top is a job that comes next and does not fit now. It gets the first time at which it
// will, as the running jobs are expected to end; what starts before must not delay it.
type top struct {
	job    *state.Job
	start  pbs.Time
	until  span
	placed spec.ExecVnode
}

// A run is what a job has, or will have, until it ends.
type run struct {
	placed    spec.ExecVnode
	exclusive bool
	bounds    *bounds // of its slots
}

// mostHopeless bounds the classes of a cycle that no end of others gives room: for each of them all that is to come is gone through.
const mostHopeless = 8

const (
	// unending is how long a job without a walltime is taken to run, as PBS does.
	unending = pbs.Time(5 * 365 * 24 * time.Hour)
	// overtime is when a job ends that has had its walltime.
	overtime = pbs.Time(time.Minute)
	// sameStart is how far an estimate of a start that is not near may move before it is written anew.
	sameStart = pbs.Time(time.Minute)
)

// noStart is logged of a job that would be a top job, had it a time at which it can start.
const noStart = "Error in calculation of start time of top job"

// walltime returns how long a job may run.
func walltime(j *state.Job) pbs.Time {
	if _, most, ok := shrinks(j); ok {
		return most
	}
	text, _ := j.Resources.Get("walltime")
	q, err := resource.Parse(resource.Time, text)
	if err != nil {
		return unending
	}
	return state.Span(q.Int())
}

// endOf returns when a running job is expected to end.
func endOf(j *state.Job, now pbs.Time) pbs.Time {
	since := j.RunningSince(now)
	if soft, ok := j.SoftSpan(now - since); ok && since+soft > now {
		return since + soft
	}
	return lastEnd(j, now)
}

// lastEnd returns when a running job is expected to end at the latest.
func lastEnd(j *state.Job, now pbs.Time) pbs.Time {
	if end := j.RunningSince(now) + walltime(j); end > now {
		return end
	}
	return now + overtime
}

// placeBeside gives the class vnodes for a job of it that runs so long, such that no top job is delayed; fits
// reports whether there was room but for them.
func (c *cycle) placeBeside(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok, fits bool) {
	rows := c.planner.rows
	if !rows.scales(j) {
		return c.placeOver(j, cl, long)
	}
	for as := range rows.paced(j) {
		where, has, could := c.placeOver(as, cl, walltime(as))
		if fits = fits || could; has || !could {
			return where, has, fits
		}
	}
	return nil, false, fits
}

// placeOver is placeBeside for a job that may run so long wherever it is.
func (c *cycle) placeOver(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok, fits bool) {
	if c.reserving == nil {
		return c.placeBesideTops(j, cl, long)
	}
	return c.placeKept(j, cl, long)
}

// placeBesideTops is placeBeside, beside what is kept for jobs that wait.
func (c *cycle) placeBesideTops(j *state.Job, cl *class, long pbs.Time) (placed spec.ExecVnode, ok, fits bool) {
	return c.placeAhead(j, cl, long, c.waitsForTops(j))
}

// waitsForTops reports whether a job must not use what top jobs are to have, however short it is.
func (c *cycle) waitsForTops(j *state.Job) bool { return len(c.tops) > 0 && !c.backfills(j.Queue) }

// wait makes the job that does not fit a top job, if it is one, or lets nothing pass it.
func (c *cycle) wait(j *state.Job, cl *class, why *reason) {
	if !why.wait.Never && c.keepFor(j, cl) {
		return
	}
	if !why.wait.Never && c.hasTurn(j, cl) && !c.top(j, cl, why.wait) {
		c.hopeless[cl] = true
	}
}

// waitBeyond is wait for a job that would run on into a time that is not for it.
func (c *cycle) waitBeyond(j *state.Job, cl *class, why state.Wait) {
	if _, ok := c.hours.opens(j, c.now, c.planner.rows.least(j)); !ok || c.order.shares.denies(j) || c.low() || c.adrift == mostHopeless {
		return
	}
	if c.hasTurn(j, cl) && !c.top(j, cl, why) {
		c.adrift++
	}
}

// hasTurn reports whether a job that does not start now is to be promised when it will. Where nobody is, nothing may pass it.
func (c *cycle) hasTurn(j *state.Job, cl *class) bool {
	if !c.plansFor(j) {
		return false
	}
	if whose, depth := c.depth(j.Queue); depth == 0 {
		if c.blocked[whose] == nil {
			c.blocked[whose] = j
		}
		return false
	}
	return c.mayWait(j, cl) && !slices.ContainsFunc(c.tops, func(t top) bool { return t.job == j })
}

// top makes the job a top job; false: it has no time at which it can start.
func (c *cycle) top(j *state.Job, cl *class, why state.Wait) bool {
	t, ok := c.estimate(j, cl, c.now)
	if !ok {
		c.log(pbs.LogDebug, j.ID, "Can't find start time estimate")
		c.log(pbs.LogDebug, j.ID, noStart)
		return false
	}
	c.keepRoom(t)
	c.order.shares.charge(j)
	c.logTop(t)
	whose, _ := c.depth(j.Queue)
	c.topsOf[whose]++
	c.expect(t, why, true)
	return true
}

func (c *cycle) logTop(t top) {
	c.log(pbs.LogDebug, t.job.ID, "Job is a top job and will run at "+inZone(c.view, t.start).Format(time.ANSIC))
}

// foresee says when the next subjob of an array is expected to start that has as many as may run at a
// time, those among them that end as given: not before one of them ends. Its place needs no keeping,
// for that is the place of the one that ends.
func (c *cycle) foresee(j *state.Job, cl *class, ends []pbs.Time) {
	more := false
	for range j.Array.Queued.From(c.begun[j.Seq]) {
		more = true
		break
	}
	if cl = c.planner.classFor(j, cl); !more || !c.mayWait(j, cl) {
		return
	}
	for sub := range c.view.LiveSubjobs(j) {
		if sub.State == pbs.Running {
			ends = append(ends, endOf(sub, c.now))
		}
	}
	if len(ends) == 0 {
		return
	}
	if t, ok := c.estimate(j, cl, slices.Min(ends)); ok {
		c.expect(t, state.Wait{}, false)
	}
}

// expect says when and where a job is expected to start, if that differs from what was said: by a
// minute, and by less of a start that is near. Of one that nobody may delay it says so.
func (c *cycle) expect(t top, why state.Wait, promised bool) {
	c.foreseen[t.job.ID] = promised
	old := t.job.EstimatedStart()
	same := max(pbs.Time(time.Second), min(sameStart, (t.start-c.now)/10))
	mark := command.TopAsBefore
	if promised && !t.job.IsTop() {
		mark = command.TopNow
	}
	if t.start-old > same || old-t.start > same || mark != command.TopAsBefore {
		c.tell(Comment{Job: t.job.ID, Why: why, Start: t.start, ExecVnode: t.placed.String(), Top: mark})
	}
}

// demote takes back what was said of jobs that are top jobs no more; with clear_topjob_estimates_enable also when and where those were
// expected to start of which that is not known any more. A cycle that has not looked at all jobs does not know.
func (c *cycle) demote() {
	if c.plan.More || c.plan.Late {
		return
	}
	forget := c.view.Server().Bool("clear_topjob_estimates_enable")
	for j := range c.view.Foreseen() {
		wasTop := j.IsTop()
		if c.mute() || !wasTop && !forget {
			return // top jobs come first
		}
		top, told := c.foreseen[j.ID]
		out := Comment{Job: j.ID, Forget: forget && !told && j.EstimatedStart() != 0}
		if wasTop && !top {
			out.Top = command.TopNoMore
		}
		if out.Forget || out.Top != command.TopAsBefore {
			c.tell(out)
		}
	}
}

// keepRoom keeps room for a job that others must not delay.
func (c *cycle) keepRoom(t top) {
	c.tops = append(c.tops, t)
	c.promise(t)
}

// plansFor reports whether others must not delay a job: none must be with strict ordering,
// and else none that starves.
func (c *cycle) plansFor(j *state.Job) bool { return c.order.strict || c.order.starves(j) }

// plansForAny reports whether there may be a job that others must not delay.
func (c *cycle) plansForAny() bool { return c.order.strict || c.order.starving }

// depth returns how many jobs others must not delay, those of which count that are in the
// same queue, if it has its own backfill_depth, else all of the queues that have none.
func (c *cycle) depth(queue pbs.QueueName) (whose pbs.QueueName, depth int) {
	if depth, own := c.order.depths[queue]; own {
		return queue, depth
	}
	return "", c.order.depth
}

// stands reports whether nothing more starts of a queue, for a job waits that nothing may pass.
func (c *cycle) stands(queue pbs.QueueName) bool {
	if len(c.blocked) == 0 {
		return false
	}
	whose, _ := c.depth(queue)
	return c.blocked[whose] != nil
}

// mayWait reports whether a job of the class may become a top job.
func (c *cycle) mayWait(j *state.Job, cl *class) bool {
	return j.MayBeTop() && c.plansFor(j) && c.mayPromise(j.Queue, cl)
}

// mayPromise reports whether there may be one more top job of a queue and a class.
func (c *cycle) mayPromise(queue pbs.QueueName, cl *class) bool {
	whose, depth := c.depth(queue)
	return c.topsOf[whose] < depth && len(c.hopeless) < mostHopeless && !c.hopeless[cl]
}
