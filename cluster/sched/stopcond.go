package sched

import (
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// A queue may say by a selection of hosts when load suspends its jobs (STOP_COND), beside the thresholds, and by another, in the place of
// loadSched, when they go on (RESUME_COND; specification: reservation section 9.8).

// conditions are the conditions of a queue; nil: it has none.
type conditions struct{ stop, resume *resreq.Select }

// said are lsf_stop_cond and lsf_resume_cond of a queue.
type said struct{ stop, resume string }

// conditionsOf returns what queues say of when load suspends their jobs.
func conditionsOf(v *state.View) map[pbs.QueueName]said {
	var all map[pbs.QueueName]said
	for q := range v.Queues() {
		if s := (said{q.Get(lsf.QueueStop), q.Get(lsf.QueueResume)}); s != (said{}) && q.Reservation == "" {
			if all == nil {
				all = map[pbs.QueueName]said{}
			}
			all[q.Name] = s
		}
	}
	return all
}

// stopBy has conditions of queues hold. One that names what is there no more holds for nobody.
func (g *gate) stopBy(all map[pbs.QueueName]said) {
	if len(all) == 0 {
		return
	}
	read := func(attribute, text string) *resreq.Select {
		s, err := lsf.ParseCondition(attribute, text, g.site)
		if err != nil {
			return nil
		}
		return &s
	}
	g.conditions = make(map[pbs.QueueName]conditions, len(all))
	known := map[string]bool{}
	for queue, s := range all {
		c := conditions{read(lsf.QueueStop, s.stop), read(lsf.QueueResume, s.resume)}
		g.conditions[queue] = c
		if c.stop != nil && !known[s.stop] {
			known[s.stop] = true
			g.stopWhen = append(g.stopWhen, *c.stop)
		}
	}
	g.stops = g.stops || len(g.stopWhen) > 0
}

// reportedValues is a host as conditions of suspension see it: what it reports, not what is available beside jobs.
type reportedValues struct{ hostValues }

// Value returns what the host reports, and of what is no load what it is.
func (s reportedValues) Value(name string) (resreq.Value, bool) {
	if n, said := s.Told(name); said {
		return resreq.Value{Number: n}, true
	}
	for _, index := range lsf.LoadIndices {
		if index == name {
			return resreq.Value{}, false
		}
	}
	return s.hostValues.Value(name)
}

// reported returns a host that has been heard of.
func (c *cycle) reported(host pbs.HostName) (reportedValues, bool) {
	all := c.planner.all
	if !c.planner.gate.reportOf(host).known {
		return reportedValues{}, false
	}
	for vn := range c.view.VnodesOf(host) {
		if i, ok := all.byVnode[vn.Name]; ok {
			return reportedValues{hostValues{all, all.nodes[i].host}}, true
		}
	}
	return reportedValues{}, false
}

// mayStopBy reports whether some queue's condition to suspend jobs holds on a host that has some.
func (c *cycle) mayStopBy(host pbs.HostName) bool {
	g := c.planner.gate
	if len(g.stopWhen) == 0 {
		return false
	}
	busy := false
	for vn := range c.view.VnodesOf(host) {
		busy = busy || len(vn.Jobs) > 0
	}
	if !busy {
		return false
	}
	values, known := c.reported(host)
	for i := 0; known && i < len(g.stopWhen); i++ {
		if g.stopWhen[i].Holds(values, "") {
			return true
		}
	}
	return false
}

// stopsBy reports whether the condition of a queue to suspend its jobs holds on a host.
func (c *cycle) stopsBy(host pbs.HostName, queue pbs.QueueName) bool {
	stop := c.planner.gate.conditions[queue].stop
	if stop == nil {
		return false
	}
	values, known := c.reported(host)
	return known && stop.Holds(values, "")
}

// calmBy reports whether the conditions of a queue let its jobs go on, as far as a host goes.
func (c *cycle) calmBy(host pbs.HostName, queue pbs.QueueName) bool {
	of := c.planner.gate.conditions[queue]
	if of == (conditions{}) {
		return true
	}
	values, known := c.reported(host)
	return known && (of.stop == nil || !of.stop.Holds(values, "")) && (of.resume == nil || of.resume.Holds(values, ""))
}
