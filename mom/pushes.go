package mom

import (
	"maps"
	"time"

	"rampart/mom/spool"
	"rampart/mom/task"
)

// pushes knows what the servers were told of the usage of each job. They are told at its first measurement, then
// each time it is twice as old as when they were told last, and once a minute in the end: who looks sees figures
// that are not much older than the job, and a cluster of long jobs commits little.
type pushes map[spool.TaskKey]pushed

type pushed struct {
	first, last time.Time
	set         map[string]string // by hooks, by resource
}

// due returns the jobs of which the servers are to be told now, also since hooks have set other values, and
// counts them as told. It forgets those that are not live any more.
func (p pushes) due(live []task.Task, now time.Time) []task.Task {
	var due []task.Task
	gone := maps.Clone(p)
	for _, t := range live {
		delete(gone, t.Key)
		was, known := p[t.Key]
		set := hookedOf(t)
		interval := max(pollEvery, min(was.last.Sub(was.first), pushEvery))
		switch {
		case !known:
			was.first = now
		case maps.Equal(set, was.set) && now.Sub(was.last) < interval-pollEvery/2:
			continue
		}
		p[t.Key] = pushed{was.first, now, set}
		due = append(due, t)
	}
	for k := range gone {
		delete(p, k)
	}
	return due
}

// hookedOf returns what hooks have set for a job, by resource.
func hookedOf(t task.Task) map[string]string {
	set := map[string]string{}
	if !t.HooksCount() {
		return set
	}
	sums := t.Reckoning()
	for _, u := range sums.Used() {
		if sums.Set(u.Resource) {
			set[u.Resource] = u.Value
		}
	}
	return set
}
