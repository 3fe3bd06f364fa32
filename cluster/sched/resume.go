package sched

import (
	"cmp"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// stopped is a suspended job that waits to be resumed.
type stopped struct {
	job   *state.Job
	level int64
}

// suspensions returns the jobs that are suspended until there is room for them: those of
// higher levels first, then those that wait longest; behind them those that load has suspended, of higher queues first, then those that
// were started first.
func (c *cycle) suspensions() []stopped {
	var all []stopped
	for j := range c.view.Suspensions() {
		if j.Substate == pbs.SubSchedSuspended {
			all = append(all, stopped{j, c.runningLevel(j)})
		}
	}
	type place struct{ byLoad, priority, since int64 }
	of := func(s stopped) (at place) {
		switch p := s.job.Run.Preemption; {
		case s.job.LastRun().StoppedByLoad() != nil:
			at = place{1, c.priority(s.job.Queue), int64(s.job.Started)}
		case p != nil:
			at.since = int64(p.At)
		}
		return at
	}
	slices.SortStableFunc(all, func(a, b stopped) int {
		x, y := of(a), of(b)
		return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(x.byLoad, y.byLoad), cmp.Compare(y.priority, x.priority), cmp.Compare(x.since, y.since))
	})
	return all
}

// resume plans to resume suspended jobs of a level and above: they come before those of the same level that
// were not started yet.
func (c *cycle) resume(level int64) {
	for len(c.stopped) > 0 && c.stopped[0].level >= level {
		j := c.stopped[0].job
		c.stopped = c.stopped[1:]
		if len(c.plan.Resumes) < c.starts {
			why, stays := c.stays(j)
			if !stays {
				c.goesOn(j)
				continue
			}
			c.explainStopped(j, why)
		}
		if c.order.enforce && c.started(j.Queue) && j.MayBeTop() && c.inside(j.Queue) == nil {
			c.resumeLater(j)
		}
	}
}

// stays returns why a suspended job does not go on (no text for a job that load keeps suspended); otherwise the job has its own back in the plan.
// Queue, time and limits are asked as for a start, and others may have started since.
func (c *cycle) stays(j *state.Job) (why state.Wait, stays bool) {
	in := c.inside(j.Queue)
	if in == nil {
		code := c.hours.shut(j.Queue)
		switch {
		case !c.started(j.Queue):
			code = state.WaitQueueStopped
		case code == 0:
			code = c.hours.crossesBy(j, c.now+leftExpected(j, c.now))
		}
		if code != 0 {
			return because(code), true
		}
	}
	if c.limiter.applies(c.view, j.Queue) {
		over := c.overLimit
		if in != nil {
			over = c.overQueue
		}
		if why, stays = over(j); stays {
			return why, true
		}
	}
	if holds := c.sharedHolds(); holds != nil && in == nil {
		if why, stays = holds.Short(c.now, c.now+leftOf(j, c.now), j.Resources); stays {
			return why, true
		}
	}
	if !c.calm(j) {
		return why, true
	}
	return c.regain(j)
}

// explainStopped tells the owner of a suspended job why it does not go on, and the log. Those that come first of very many are told: the
// jobs that wait want to hear of themselves, too.
func (c *cycle) explainStopped(j *state.Job, why state.Wait) {
	if why.Code == 0 || j.LastRun().StoppedByLoad() != nil { // its comment says by which
		return
	}
	c.standing++
	if c.standing > c.exact || j.Says(why, false) || c.mute() {
		return
	}
	c.tell(Comment{Job: j.ID, Why: why})
	c.logWhy(j.ID, why)
}

// resumeLater keeps what a suspended job wants back for the time at which it will be free
// (sched_preempt_enforce_resumption).
func (c *cycle) resumeLater(j *state.Job) {
	gone, err := c.view.LeftBySuspension(j)
	if err != nil {
		return
	}
	placed, place := leaving(gone).placed, j.Placement()
	goesOn := func(w *world, at pbs.Time) bool {
		start, ok := c.hours.opens(j, at, leftExpected(j, c.now))
		until := spanFrom(start, leftExpected(j, c.now), leftOf(j, c.now))
		if !ok || !c.hasWhole(c.offers(j), wholeWindow(start, until)) || !w.givesAll(gone, place, c.future.windowAt(at, until)) {
			return false
		}
		c.keepResumption(top{j, start, until, placed})
		return true
	}
	if start, ok := c.hours.opens(j, c.now, leftExpected(j, c.now)); ok && (start == c.now || !goesOn(c.free, c.now)) {
		c.ahead(false, goesOn)
	}
}

// keepResumption keeps room for a suspended job, and tells when it is expected to go on.
func (c *cycle) keepResumption(t top) {
	c.keepRoom(t)
	c.logTop(t)
	c.expect(t, state.Wait{}, false)
}

// leftOf returns how long a suspended job will run that goes on now, at most.
func leftOf(j *state.Job, now pbs.Time) pbs.Time {
	if long := walltime(j); long >= unending {
		return long
	}
	return lastEnd(j, now) - now
}

// leftExpected returns how long a suspended job that goes on now is expected to run: by its soft_walltime, where it has one.
func leftExpected(j *state.Job, now pbs.Time) pbs.Time {
	return min(leftOf(j, now), endOf(j, now)-now)
}

// has reports whether all of an assignment is free.
func (w *world) has(placed spec.ExecVnode) bool {
	w.change(placed, -1)
	defer w.change(placed, 1)
	for _, name := range placed.Vnodes() {
		i, ok := w.byVnode[name]
		if !ok || !w.nodes[i].usable {
			return false
		}
		for _, col := range w.columns {
			if col.left(i) < 0 {
				return false
			}
		}
	}
	return true
}

// regain takes what the job gave back, if all of it is free; else it tells what is not.
func (c *cycle) regain(j *state.Job) (why state.Wait, short bool) {
	gone, err := c.view.LeftBySuspension(j)
	if err != nil {
		return because(state.WaitNodes), true
	}
	place, until := j.Placement(), spanFrom(c.now, leftExpected(j, c.now), leftOf(j, c.now))
	w, win, in := c.free, (*window)(nil), c.inside(j.Queue)
	if in != nil {
		if w = in.world; !in.runs {
			return because(state.WaitQueueStopped), true
		}
		in.renew(c.future)
	} else {
		win = c.future.window(until)
	}
	if !w.givesAll(gone, place, nil) {
		return c.lacksBack(w, gone), true
	}
	if win != nil && !w.givesAll(gone, place, win) {
		return because(state.WaitTop), true
	}
	bounds := c.planner.boundsOf(j)
	if by, h := w.overBack(bounds, gone); by != nil {
		return state.Wait{Code: state.WaitSlots, Resource: by.Resource, Words: lsf.AtHosts(by.Reason, []string{string(w.hosts[h].key.mom)})}, true
	}
	back := leaving(gone)
	w.regive(gone, place)
	for by, of := range w.goingOn(bounds, gone) {
		w.countIn(by, of.host, of.amount)
	}
	if in != nil {
		in.take(c, j, back.placed, until)
		return state.Wait{}, false
	}
	c.future.add(holdOf(calendar.Run, j, c.now, until), back.placed, place)
	c.future.touch(c.free, back.placed.Vnodes())
	return state.Wait{}, false
}

// lacksBack tells what a suspended job wants back that its vnodes do not have: the first resource of which one has too little, as PBS
// says it of a chunk that names its vnode; where no vnode has a cpu left nothing is counted.
func (c *cycle) lacksBack(w *world, gone []state.Left) state.Wait {
	if w == c.free && c.idle == nil {
		c.idle = c.planner.empty(c.view)
	}
	if w != c.free || c.allBusy() {
		return because(state.WaitBusy)
	}
	want := map[onColumn]int64{}
	for _, l := range gone {
		i, ok := w.byVnode[l.Vnode.Name]
		if !ok {
			break
		}
		for _, it := range l.Items {
			def, ok := c.view.Resource(it.Name)
			if !ok || !def.AtVnodes() {
				continue
			}
			col := w.column(def)
			key := onColumn{col.at(i), it.Name}
			want[key] += charged(def, resource.List{it})
			if free := max(0, col.left(i)); want[key] > free {
				return state.Short(state.WaitShort, shortfall{need{def, want[key]}, free, offered(def, w.nodes[i].offer)}.words())
			}
		}
	}
	return because(state.WaitBusy)
}

// givesAll reports whether the vnodes of a suspended job have all that it wants back, for the whole of a window.
func (w *world) givesAll(gone []state.Left, place spec.Place, win *window) (ok bool) {
	want := map[onColumn]int64{}
	w.within(win, func() {
		for _, l := range gone {
			i, there := w.byVnode[l.Vnode.Name]
			if !there {
				return
			}
			w.look(w.nodes[i].host)
			if win != nil && slices.Contains(win.barred, i) || !w.gives(i, l, place, want) {
				return
			}
		}
		ok = true
	})
	return ok
}

// onColumn is a resource of the vnode that is charged for it.
type onColumn struct {
	node int
	name string
}

// gives reports whether a vnode has what a suspended job wants back, beside what it wants of
// others that share its amounts, and beside who was given the vnode in this cycle.
func (w *world) gives(i int, l state.Left, place spec.Place, want map[onColumn]int64) bool {
	n := &w.nodes[i]
	if n.vnode.Lost() {
		return false
	}
	for k, held := range n.vnode.Jobs {
		if k != l.At && held.Admin {
			return false
		}
	}
	alone := l.Held().Exclusive
	if !w.use(n).Lets(alone, alone && n.vnode.HostAloneFor(place)) {
		return false
	}
	for _, it := range l.Items {
		if def, ok := w.view.Resource(it.Name); ok && def.AtVnodes() {
			col := w.column(def)
			key := onColumn{col.at(i), it.Name}
			want[key] += charged(def, resource.List{it})
			if want[key] > col.left(i) && want[key] > 0 {
				return false
			}
		}
	}
	return true
}

// regive gives a suspended job back what it gave: gives has looked whether it is there.
func (w *world) regive(gone []state.Left, place spec.Place) {
	for _, l := range gone {
		i := w.byVnode[l.Vnode.Name]
		n := &w.nodes[i]
		n.jobs++
		w.hosts[n.host].jobs++
		if l.Held().Exclusive {
			n.alone, n.usable = true, false
			w.hosts[n.host].shut = w.hosts[n.host].shut || n.vnode.HostAloneFor(place)
		}
		w.count(i, l.Items, -1)
		w.reset(n.host)
	}
}
