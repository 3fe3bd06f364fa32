package sched

import (
	"time"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Of what rusage gives a duration a run holds less as time passes (specification: reservation section 3). A cycle looks at a view in which
// each vnode is as it is at that time (state.View.At), so that nothing else in it knows of this but for what is to come: in
// the calendar such an amount is a hold of its own, which ends with its duration. Of one that decays the whole rest counts until then
// where a time is looked at, and what is held of it then at an instant.

// A part is an amount of some items that a run holds for a time.
type part struct {
	calendar.Hold
	items resource.List
}

// fading parts a share, of which the hold is, into what is held for a time only and the rest. A suspended run holds what it has until
// it goes on.
func (f *future) fading(held state.VnodeJob, of *calendar.Hold) (parts []part, rest resource.List) {
	rest = held.Items
	j, ok := f.view.Job(held.Job)
	if !held.Fades || held.Suspended || !ok {
		return nil, rest
	}
	for _, fade := range j.LastRun().Fades {
		value, has := held.Items.Get(fade.Resource)
		if !has {
			continue
		}
		p := part{calendar.Hold{From: of.From, Until: min(of.Until, fade.Until(j)), Expected: of.Expected, Kind: calendar.Fading, By: of.By}, resource.List{{Name: fade.Resource, Value: value}}}
		if def, known := f.view.Resource(fade.Resource); known && fade.Decay {
			p.Left = func(at pbs.Time) []calendar.Amount {
				return []calendar.Amount{{Resource: fade.Resource, Amount: charged(def, f.view.Holds(held, at))}}
			}
		}
		rest = rest.Unset(fade.Resource)
		if p.Until > f.now {
			parts = append(parts, p)
		}
	}
	return parts, rest
}

// shrinking is a hold of a vnode of which less is held as time passes.
type shrinking struct {
	node int
	hold *calendar.Hold
}

// shrink gives a world what is held no more at an instant of holds that last beyond it, and returns what takes it back.
func (f *future) shrink(w *world, at pbs.Time) (again func()) {
	if len(f.shrinking) == 0 {
		return func() {}
	}
	by := func(sign int64) {
		dirty := map[int]bool{}
		for _, s := range f.shrinking {
			if s.hold.Until <= at || s.hold.From > at {
				continue
			}
			left := s.hold.Left(at)
			for n, it := range s.hold.Items {
				if c := w.columns.of(it.Resource); c != nil && n < len(left) {
					c.add(s.node, sign*(it.Amount-left[n].Amount))
					dirty[w.nodes[s.node].host] = true
				}
			}
		}
		for h := range dirty {
			w.reset(h)
		}
	}
	by(1)
	return func() { by(-1) }
}

// nextFade returns when runs hold less than now: at the end of a duration, or, where an amount becomes less all the time, at the
// next dispatch turn; 0: what they hold they hold to their ends.
func (c *cycle) nextFade() (next pbs.Time) {
	now, turn := c.now+c.planner.ahead, state.Span(c.view.LSF().Turn())
	for vn := range c.view.Fading() {
		for _, held := range vn.Jobs {
			j, ok := c.view.Job(held.Job)
			if !held.Fades || held.Suspended || !ok {
				continue
			}
			for _, f := range j.LastRun().Fades {
				at := f.Until(j)
				if at <= now {
					continue
				}
				if f.Decay {
					at = min(at, now-now%pbs.Time(time.Second)+turn)
				}
				if next == 0 || at < next {
					next = at
				}
			}
		}
	}
	return next
}
