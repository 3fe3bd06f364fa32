package sched

import (
	"math"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A Preempt takes from a running job what it has, for one that comes before it.
type Preempt struct {
	Job      pbs.JobID
	RunCount pbs.RunCount
	Method   string
	For      pbs.JobID // the job that waits; of subjobs that were never started their array
}

const (
	// mostPreempting bounds the jobs of a cycle for which others are preempted.
	mostPreempting = 16
	// mostSpared bounds the victims of one job of which it is looked whether they can be spared.
	mostSpared = 64
	// mostMethods is how many methods preempt_order has.
	mostMethods = 4
)

// preemption holds what a cycle knows of the jobs that may be preempted; it is looked up when it is
// first needed.
type preemption struct {
	victims   []victim
	lowest    int64
	vain      map[pbs.JobID]bool // jobs that wait, for which some have made way in vain
	hopeless  map[attempt]bool
	most      map[bound]*world  // what is free at most when all are preempted that may be
	jobs      int               // for which others were preempted
	held      map[held]bool     // attempts at limits that are of no use
	freed     map[limited]int64 // what the victims that somebody gets counted for
	scratch   *world
	preemptor *state.Job       // for whom others are to be preempted
	fruitless map[*victim]bool // victims that would go on before the preemptor has started
}

// An attempt is what decides whether preempting others helps a job.
type attempt struct {
	class    *class
	level    int64
	targets  string
	outlasts met       // at whose start the job would run still
	apart    pbs.JobID // of a job for which some have made way in vain: others may have them preempted
}

type bound struct {
	level  int64
	method int
}

// A candidate is where a job fits when some victims are preempted by their method of a place.
type candidate struct {
	placed  spec.ExecVnode
	victims []*victim
	method  int
}

// preempt looks for running jobs of lower levels without which the job would fit, and keeps
// what it gets out of the way of others. Jobs that are being preempted already go first: so
// a new leader goes on where the last one stopped.
func (c *cycle) preempt(j *state.Job, cl *class) bool {
	a, ok := c.attempt(j, cl)
	if !ok {
		return false
	}
	if c.overcome(j, a, nil) {
		return true
	}
	c.preemption.hopeless[a] = true
	return false
}

// attempt returns what decides whether preempting others helps the job, false where it does not.
func (c *cycle) attempt(j *state.Job, cl *class) (attempt, bool) {
	if c.order.levels == nil || cl.bad != "" {
		return attempt{}, false
	}
	a := attempt{class: cl, level: c.waitingLevel(j)}
	if c.preemption == nil {
		if c.order.levels.least() >= a.level || c.lowest() >= a.level {
			return a, false // the common case, which needs not know who can be preempted how
		}
		c.beginPreemption()
	}
	c.preemption.preemptor = j
	if len(c.preemption.victims) == 0 || c.preemption.lowest >= a.level || c.planner.nonPreempting[j.ID] {
		return a, false
	}
	a.targets, _ = j.Resources.Get("preempt_targets")
	a.outlasts = c.outlasted(j)
	if c.preemption.vain[j.ID] {
		a.apart = j.ID
	}
	if c.preemption.hopeless[a] || strings.EqualFold(a.targets, "NONE") {
		return a, false
	}
	if c.preemption.jobs == mostPreempting {
		c.plan.More = c.plan.More || len(c.plan.Preempts) > 0
		return a, false
	}
	return a, true
}

// mayPreempt reports whether a job may get by preemption what another one of its class did not.
func (c *cycle) mayPreempt(j *state.Job, cl *class) bool {
	_, ok := c.attempt(j, cl)
	return ok
}

// anyMayPreempt reports whether some job of a queue may get something by preemption.
func (c *cycle) anyMayPreempt(queue pbs.QueueName) bool {
	return c.preemption != nil && c.order.levels != nil && len(c.preemption.victims) > 0 && c.preemption.lowest < c.order.levels.most(queue)
}

// outlasted counts the top jobs that a job would delay if it got what they are to have.
func (c *cycle) outlasted(j *state.Job) met {
	return c.future.before(c.future.end(j, c.planner.rows.walltime(j)))
}

// overcome preempts by the first method that helps the job. Those that must go, go in any case;
// nil: none must.
func (c *cycle) overcome(j *state.Job, a attempt, must []*victim) bool {
	defer clear(c.preemption.fruitless)
	for method := range mostMethods {
		if _, ok := c.preemption.most[bound{a.level, method}].orMake(c, a.level, method).fits(a.class); !ok {
			continue
		}
		if q, ok := c.findCandidate(j, a, method, must); ok {
			c.take(j, a, q)
			return true
		}
	}
	return false
}

// may reports whether an attempt may preempt a victim.
func (c *cycle) may(a attempt, v *victim) bool {
	return v.level < a.level && !v.taken && !c.preemption.fruitless[v] &&
		(v.pending || targeted(a.targets, v.job) && c.view.MayMakeWay(v.job, c.preemption.preemptor))
}

// waitingLevel returns the level of a job that waits.
func (c *cycle) waitingLevel(j *state.Job) int64 {
	if c.wish != nil {
		return wished
	}
	return c.order.levels.of(j.Queue, c.order.is(j)|c.beyond)
}

// lowest returns the lowest level of any running job.
func (c *cycle) lowest() int64 {
	if c.lowly == nil {
		least := int64(math.MaxInt64)
		for j := range c.view.Running() {
			least = min(least, c.runningLevel(j))
		}
		c.lowly = &least
	}
	return *c.lowly
}

func (c *cycle) beginPreemption() {
	c.preemption = &preemption{victims: c.victims(), vain: map[pbs.JobID]bool{}, hopeless: map[attempt]bool{}, held: map[held]bool{}, freed: map[limited]int64{}, most: map[bound]*world{}, fruitless: map[*victim]bool{}}
	for i, v := range c.preemption.victims {
		if i == 0 || v.level < c.preemption.lowest {
			c.preemption.lowest = v.level
		}
		for _, w := range c.view.WaysOf(v.job) {
			c.preemption.vain[w.For] = true
		}
	}
}

// orMake returns the world in which all victims below a level are gone, made when it is
// first asked for: what starts later in the cycle leaves less, so who does not fit there fits nowhere.
func (w *world) orMake(c *cycle, level int64, method int) *world {
	if w != nil {
		return w
	}
	w = c.free.copyTo(nil)
	for i := range c.preemption.victims {
		if v := &c.preemption.victims[i]; v.level < level {
			w.release(c.leaves(v, method))
		}
	}
	c.preemption.most[bound{level, method}] = w
	return w
}

// selectVictims finds the victims that have to go so that the class fits, beside those that must go anyway.
func (c *cycle) selectVictims(a attempt, method int, must []*victim) (candidate, bool) {
	w := c.free.copyTo(c.preemption.scratch)
	c.preemption.scratch = w
	defer c.future.back()
	for _, v := range must {
		c.release(w, v, method)
	}
	if must != nil {
		if placed, ok := c.findFor(w, a.class); ok {
			return candidate{placed, must, method}, true
		}
	}
	var may []*victim
	for i := range c.preemption.victims {
		if v := &c.preemption.victims[i]; c.may(a, v) && !slices.Contains(must, v) {
			may = append(may, v)
		}
	}
	single := a.class.fit.ok && a.class.fit.host >= 0
	every := 1
	if !single {
		every = max(1, len(may)/64) // a look at many hosts is dear
	}
	for i, v := range may {
		c.release(w, v, method)
		if i%every != 0 && i != len(may)-1 {
			continue
		}
		if placed, ok := c.findFor(w, a.class); ok {
			w.undo(placed)
			c.future.back()
			return c.spare(a, must, may[:i+1], w.on(placed), method)
		}
	}
	return candidate{}, false
}

// on returns the hosts of an assignment.
func (w *world) on(placed spec.ExecVnode) map[int]bool {
	hosts := map[int]bool{}
	for _, name := range placed.Vnodes() {
		if i, ok := w.byVnode[name]; ok {
			hosts[w.nodes[i].host] = true
		}
	}
	return hosts
}

// spare drops the victims that are on other hosts than the job, and those without which it
// fits as well, the ones that were found last first.
func (c *cycle) spare(a attempt, must, found []*victim, hosts map[int]bool, method int) (candidate, bool) {
	var kept []*victim
	for _, v := range found {
		for h := range c.free.on(c.leaves(v, method).placed) {
			if hosts[h] {
				kept = append(kept, v)
				break
			}
		}
	}
	placed, ok := c.without(a.class, slices.Concat(must, kept), nil, method)
	for i, looks := len(kept)-1, 0; i >= 0 && looks < mostSpared; i-- {
		if kept[i].pending {
			continue
		}
		looks++
		if better, fits := c.without(a.class, slices.Concat(must, kept), kept[i], method); fits {
			placed, ok = better, true
			kept = append(kept[:i:i], kept[i+1:]...)
		}
	}
	return candidate{placed, slices.Concat(must, kept), method}, ok
}

// without places the class as if the victims but one were gone.
func (c *cycle) without(cl *class, victims []*victim, but *victim, method int) (spec.ExecVnode, bool) {
	w := c.free.copyTo(c.preemption.scratch)
	c.preemption.scratch = w
	defer c.future.back()
	for _, v := range victims {
		if v != but {
			c.release(w, v, method)
		}
	}
	return c.findFor(w, cl)
}

// release takes a victim out of a world, and until future.back out of the calendar.
func (c *cycle) release(w *world, v *victim, method int) {
	left := c.leaves(v, method)
	w.release(left)
	c.future.leave(v.job.ID, left.placed)
}

// findFor finds room for the job for which others are to be preempted, for as long as it runs.
func (c *cycle) findFor(w *world, cl *class) (placed spec.ExecVnode, ok bool) {
	j := c.preemption.preemptor
	win := c.future.window(c.future.end(j, c.planner.rows.walltime(j)))
	w.within(win, func() { placed, ok = w.find(cl) })
	return placed, ok
}

// take plans to preempt the victims, and keeps what is free of what the job will get.
func (c *cycle) take(j *state.Job, a attempt, q candidate) {
	c.preemption.jobs++
	for _, v := range q.victims {
		v.taken, v.below = true, a.level
		c.uncount(v)
		if !v.pending {
			c.plan.Preempts = append(c.plan.Preempts, Preempt{v.job.ID, v.job.RunCount, v.method(q.method), j.ID})
		}
	}
	c.free.reserve(q.placed, a.class)
	c.future.touch(c.free, q.placed.Vnodes())
	c.planned(j)
}

// reserve takes of what a job will get that which is free already.
func (w *world) reserve(placed spec.ExecVnode, cl *class) {
	w.occupy(placed, cl)
	for _, name := range placed.Vnodes() {
		if i, ok := w.byVnode[name]; ok {
			for _, col := range w.columns {
				col.add(i, max(0, -col.left(i)))
			}
		}
	}
	w.recount(placed)
}
