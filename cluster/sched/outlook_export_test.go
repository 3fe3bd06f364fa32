package sched

import (
	"cmp"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// NewOutlook returns the outlook of a view at a time.
func NewOutlook(v *state.View, now pbs.Time) *Outlook { return newOutlook(v, now, nil) }

// Holds returns who has what of a vnode, and who is to have it, each with its reason, in the order of the beginning.
func (o *Outlook) Holds(name pbs.VnodeName) []calendar.Hold {
	vn, ok := o.view.Vnode(name)
	if !ok {
		return nil
	}
	c, _ := o.cycle(nil)
	f := c.future
	var all []calendar.Hold
	for _, h := range f.of(vn, true).Holds() {
		all = append(all, *h)
	}
	if !sound(vn) {
		all = append(all, calendar.Hold{From: o.now, Until: calendar.Forever, Kind: calendar.Offline, By: vn.State()})
	}
	if o.hours.begins != 0 {
		all = append(all, calendar.Hold{From: max(o.now, o.hours.begins), Until: o.hours.ends, Kind: calendar.Dedicated})
	}
	slices.SortStableFunc(all, func(a, b calendar.Hold) int { return cmp.Compare(a.From, b.From) })
	return all
}

// Earliest returns the first time at which a job that waits fits for its whole length, without harm to what is promised to
// others; false: there is none that can be known.
func (o *Outlook) Earliest(j *state.Job) (Fit, bool) {
	c, cl := o.cycle(j)
	return c.fit(j, cl)
}
