package sched

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// shared counts what is held of server-wide resources, where reservations have, or are to have, some of them.
type shared struct {
	read  bool
	holds *state.ServerHolds // nil: no reservation asks for any
	given []given            // in this cycle
}

// given holds what a reservation gets in a cycle.
type given struct {
	from, until pbs.Time
	asked       resource.List
}

// wants returns what a reservation is to have, if it is altered as is asked for.
func (q *question) wants() resource.List {
	if q.Ask != nil {
		return q.Ask.Resources
	}
	return q.Resources
}

// wantsMore reports whether the reservation is to have anything that it was not promised.
func (q *question) wantsMore() bool {
	switch {
	case q.State == pbs.ResvUnconfirmed:
		return true
	case q.Ask == nil || q.State != pbs.ResvBeingAltered:
		return false
	}
	return q.Ask.Start < q.Start || q.Ask.End > q.End || !resource.Equal(q.Ask.Resources, q.Resources, q.view)
}

// serverHolds returns what others hold of what the reservation wants of the server; nil: it wants nothing of that.
func (q *question) serverHolds() *state.ServerHolds {
	holds := q.view.ServerHolds(q.wants(), q.ID)
	if holds == nil {
		return nil
	}
	for _, g := range q.shared.given {
		holds.Add(g.from, g.until, g.asked)
	}
	return holds
}

// serverShort says what the server has too little of as a whole for the occurrences that got vnodes; empty: it has all.
func (q *question) serverShort() string {
	holds := q.serverHolds()
	if holds == nil {
		return ""
	}
	var more []given
	for n := range q.found {
		from, until := q.times(n)
		from = max(from, q.now)
		if why, short := holds.Short(from, until, q.wants()); short {
			return why.Text()
		}
		holds.Add(from, until, q.wants())
		more = append(more, given{from, until, q.wants()})
	}
	q.shared.given, q.shared.read = append(q.shared.given, more...), false
	return ""
}

// overReserved returns what a job would have to have of the server that reservations have, or are to have, in its time.
func (c *cycle) overReserved(j *state.Job) (state.Wait, bool) {
	holds := c.sharedHolds()
	if holds == nil || j.Reservation != "" {
		return state.Wait{}, false
	}
	return holds.Short(c.now, c.now+c.planner.rows.walltime(j), j.Resources)
}

// plannedShared counts a job that is about to start.
func (c *cycle) plannedShared(j *state.Job) {
	if holds := c.sharedHolds(); holds != nil && j.Reservation == "" {
		holds.Add(c.now, c.now+c.planner.rows.walltime(j), j.Resources)
	}
}

func (c *cycle) sharedHolds() *state.ServerHolds {
	if !c.shared.read {
		c.readShared()
	}
	return c.shared.holds
}

// readShared looks for reservations that have, or are to have, something of the server as a whole.
func (c *cycle) readShared() {
	c.shared.read, c.shared.holds = true, nil
	var offered resource.List
	for _, it := range c.view.Server().Resources("resources_available") {
		if def, ok := c.view.Resource(it.Name); ok && def.Flags&resource.PerQueue != 0 {
			offered = append(offered, it)
		}
	}
	if len(offered) == 0 {
		return
	}
	asks := func(list resource.List) bool {
		for _, it := range offered {
			if _, asked := list.Get(it.Name); asked {
				return true
			}
		}
		return false
	}
	reserved := false
	for r := range c.view.Reservations() {
		if reserved = asks(r.Resources); reserved {
			break
		}
	}
	if !reserved && len(c.shared.given) == 0 {
		return
	}
	holds := c.view.ServerHolds(offered, "")
	if holds == nil {
		return
	}
	for _, g := range c.shared.given {
		holds.Add(g.from, g.until, g.asked)
	}
	c.shared.holds = holds
}
