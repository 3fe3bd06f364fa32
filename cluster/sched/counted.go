package sched

import (
	"cmp"
	"slices"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/state"
)

// counted notes which runs count for the limit that a job waits for, or hold the resource of server or queue that is short: some of
// them have to end, though vnodes are free. Those that end first come first.
func (c *cycle) counted(e *Explanation, j *state.Job) {
	w, reached := c.overLimit(j)
	if !reached {
		w, reached = c.overReserved(j)
	}
	if !reached && c.overPromised(j) {
		c.promisedOf(e, j)
	}
	if !reached || w.Never {
		return
	}
	if e.Reason == "" {
		e.Reason = w.Text()
	}
	queue := w.Queue
	counts := func(*state.Job) bool { return true }
	switch w.Code {
	case state.WaitLimit:
		whom := w.Subject
		for _, s := range j.Subjects() {
			if s.Kind == whom.Kind && whom.Kind != 0 {
				whom = s // a generic limit names nobody
			}
		}
		counts = func(run *state.Job) bool {
			of := run.Subjects()
			return whom.Kind == 0 || slices.Contains(of[:], whom)
		}
	case state.WaitQueueShort:
		queue = j.Queue
	case state.WaitServerShort:
	default:
		return
	}
	var all []InTheWay
	for run := range c.view.Running() {
		if queue != "" && run.Queue != queue || run.Suspended() || !counts(run) {
			continue
		}
		what := ""
		if w.Resource != "" {
			amount, asked := run.Resources.Get(w.Resource)
			if !asked {
				continue
			}
			what = w.Resource + "=" + amount
		}
		h := InTheWay{Kind: calendar.Run.String(), By: string(run.ID), What: what, From: run.Started}
		if end := endOf(run, c.now); end < c.now+unending/2 {
			h.Until = end
		}
		all = append(all, h)
	}
	if w.Code == state.WaitServerShort {
		all = append(all, c.reservedOf(w.Resource)...)
	}
	slices.SortStableFunc(all, func(a, b InTheWay) int {
		return cmp.Compare(uint64(a.Until-1), uint64(b.Until-1)) // nobody knows when 0 is, which comes last
	})
	e.Counted, e.CountedMore = all[:min(len(all), mostHolds)], max(0, len(all)-mostHolds)
}

// promisedOf notes which top jobs are to have of server or queue what a job would still have then.
func (c *cycle) promisedOf(e *Explanation, j *state.Job) {
	if e.Reason == "" {
		e.Reason = because(state.WaitTop).Text()
	}
	for _, l := range c.offers(j) {
		for _, h := range c.whole(l.Queue).During(c.now, c.future.end(j, c.planner.rows.walltime(j)).expected) {
			if h.Kind != calendar.Top || h.Items[0].Resource != l.Resource {
				continue
			}
			if len(e.Counted) == mostHolds {
				e.CountedMore++
				continue
			}
			def, _ := c.view.Resource(l.Resource)
			e.Counted = append(e.Counted, InTheWay{Kind: h.Kind.String(), By: h.By, What: l.Resource + "=" + text(def, h.Items[0].Amount), From: h.From, Until: c.endOf(h)})
		}
	}
}

// reservedOf returns what reservations have, or are to have next, of a resource that the server has as a whole.
func (c *cycle) reservedOf(name string) (all []InTheWay) {
	for r := range c.view.Reservations() {
		if amount, asked := r.Resources.Get(name); asked && len(r.Nodes()) > 0 {
			all = append(all, InTheWay{Kind: calendar.Reservation.String(), By: string(r.ID), What: name + "=" + amount, From: r.Start, Until: r.End})
		}
	}
	return all
}
