package sched

import (
	"context"
	"fmt"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Limit bounds the cycles of a planner tighter than usual.
func (p *Planner) Limit(starts, comments, lines, exact int) {
	p.limits = limits{starts, comments, lines, exact}
}

// Make plans one cycle from nothing but the view. See Planner.
func Make(v *state.View, now pbs.Time) Plan { return NewPlanner().Plan(v, now) }

// MakeByWalking plans as Make does, but looks at every queued job and keeps
// nothing: what a plan is, in the simplest words.
func MakeByWalking(v *state.View, now pbs.Time, starts, comments, lines, exact int) Plan {
	p := NewPlanner()
	p.Limit(starts, comments, lines, exact)
	p.prepare(v, now)
	c := p.begin(v, now)
	var jobs []*state.Job
	for j := range v.Jobs() {
		if j.Startable() {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *state.Job) int {
		if state.Before(a, b) {
			return -1
		}
		return 1
	})
	for _, j := range jobs {
		if len(c.plan.Starts) == c.starts {
			c.plan.More = true
			break
		}
		place, _ := j.Resources.Get("place")
		c.consider(j, p.classes[p.key(j.SchedSelect, place, j.Queue)])
	}
	return c.plan
}

// Changes are what a start sets of its job.
func Changes(s Start) []command.AttrChange { return s.changes }

// Follow brings what the planner keeps up to a view, and asks for no calendar.
func (p *Planner) Follow(v *state.View, now pbs.Time) {
	p.prepare(v, now)
	p.begin(v, now)
}

// Foreseen returns what the planner's calendars say at the beginning of a cycle, a line for each hold, and what is to come of all of them.
func (p *Planner) Foreseen(v *state.View, now pbs.Time) (lines []string) {
	p.prepare(v, now)
	c := p.begin(v, now)
	f := c.future
	for vn := range v.Vnodes() {
		s := f.of(vn, true)
		lines = append(lines, fmt.Sprint(vn.Name, s.busy))
		for _, h := range s.Holds() {
			users, alone, host := s.Use(h.From, h.Until)
			line := fmt.Sprintf("%+v: %d %v %v", *h, users, alone, host)
			for _, it := range h.Items {
				line += fmt.Sprint(" ", s.Held(it.Resource, h.From, h.Until), s.HeldOf(calendar.Likely, it.Resource, h.From, h.Until))
			}
			lines = append(lines, line)
		}
	}
	return slices.Concat(lines, []string{fmt.Sprint(f.begins, f.starts)}, c.comes(), c.wholeLines(v))
}

// wholeLines returns what the calendars of the server and its queues say, a line for each hold, those of one beginning in any order.
func (c *cycle) wholeLines(v *state.View) (lines []string) {
	names := []pbs.QueueName{""}
	for q := range v.Queues() {
		names = append(names, q.Name)
	}
	for _, name := range names {
		w := c.whole(name)
		for _, h := range w.Holds() {
			line := fmt.Sprintf("%q %+v:", name, *h)
			for _, it := range h.Items {
				line += fmt.Sprint(" ", w.Held(it.Resource, h.From, h.Until), w.HeldOf(calendar.Likely, it.Resource, h.From, h.Until), w.Held(it.Resource, h.End(), h.End()+1))
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// comes returns what is to come, a line for each beginning and end, those of one time in any order.
func (c *cycle) comes() (lines []string) {
	c.future.kept.timeline.follow(c.future, c.free)
	last := event{}
	for e := range c.future.all {
		if e.at < last.at || e.at == last.at && last.takes && !e.takes {
			lines = append(lines, "out of order")
		}
		last = e
		lines = append(lines, fmt.Sprintf("%020d %v %d %s %+v", e.at, e.takes, e.when, c.free.nodes[e.node].vnode.Name, *e.hold))
	}
	slices.Sort(lines)
	return lines
}

// GoBy has a planner go by load.
func (p *Planner) GoBy(l *Loads) { p.loads = l }

// GoesByLoad reports whether load was looked at in the last cycle, and is to be told often.
func (p *Planner) GoesByLoad() bool { return p.goesByLoad }

// AskDynamic asks the programs of server_dyn_res, and returns of what the cycle is told.
func (l *Loop) AskDynamic(ctx context.Context, v *state.View) map[string]string {
	return l.dynamic(ctx, v)
}

// Opens returns when dedicated and prime time let a job start that runs so long, as it is seen now.
func Opens(v *state.View, j *state.Job, now, long pbs.Time) (pbs.Time, bool) {
	return newHours(v, now).opens(j, now, long)
}

// Estimates returns when and where jobs that wait for one host could start beside all that a cycle has planned: by looking at each host when
// something is given back there, and, before and after that, by going through the times to come with all vnodes.
func (p *Planner) Estimates(v *state.View, now pbs.Time) (onOne, walked, again []string) {
	waits := p.prepare(v, now)
	c := p.begin(v, now)
	c.run(newLanes(waits, p.lineup.sorted, &p.order))
	walk := func(enough fitness) bool { return c.ahead(false, enough) }
	for of := range v.Classes() {
		for j := range v.JobsOf(of) {
			cl := p.known(v, of)
			if c.inside(of.Queue) != nil || !c.oneHost(cl) {
				continue
			}
			tell := func(t top, ok bool) string { return fmt.Sprint(j.ID, ok, t.start, t.until, t.placed) }
			walked = append(walked, tell(c.estimateBy(j, cl, now, walk)))
			onOne = append(onOne, tell(c.estimate(j, cl, now)))
			again = append(again, tell(c.estimateBy(j, cl, now, walk)))
			if t, ok := c.estimate(j, cl, now); ok && len(c.tops) < 3 { // the others have less
				c.keepRoom(t)
			}
		}
	}
	return onOne, walked, again
}
