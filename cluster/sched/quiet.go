package sched

import (
	"slices"
	"sync/atomic"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

const cycleStarts = "Starting Scheduling Cycle"

// told holds what the scheduler's log has of cycles.
type told struct {
	at      time.Time      // when the last one began that it has
	stirred uint64         // what the last one knew of, in the log or not
	partly  bool           // that one has not looked at all jobs
	refused atomic.Bool    // starts that it planned were refused
	defined []resource.Def // the resources of the site, once they were asked for
	asked   bool
}

// due returns how long it is until the log has told nothing of cycles for some time: scheduler_iteration.
func (t *told) due(iteration time.Duration) time.Duration {
	return max(0, time.Until(t.at.Add(iteration)))
}

// quiet reports whether a cycle would only say again what the log has: nothing has come since the last one for which a PBS would begin
// one, such as a job, the end of a job, a setting, or the end of scheduler_iteration. It is in the log if something comes of it.
func (l *Loop) quiet(v *state.View) bool {
	iteration := time.Duration(v.Server().Int("scheduler_iteration")) * time.Second
	refused := l.told.refused.Swap(false)
	return v.Stirred() == l.told.stirred && !l.told.partly && !refused && !l.told.at.IsZero() && time.Since(l.told.at) < iteration
}

// acts reports whether a plan changes more than what is said of jobs that wait.
func (p *Plan) acts() bool {
	return len(p.Decisions) > 0 || len(p.Starts) > 0 || len(p.Resumes) > 0 || len(p.Preempts) > 0 || len(p.LoadStops) > 0
}

// noteResources logs that resources were defined, changed or deleted: a PBS has its schedulers read their configuration again then.
func (l *Loop) noteResources(v *state.View) {
	if l.told.knows(v) {
		return
	}
	if l.told.asked {
		l.log(pbs.LogSched, "Sched", "reconfigure", "Scheduler is reconfiguring")
	}
	l.told.defined, l.told.asked = slices.Collect(v.CustomResources()), true
}

// knows reports whether the resources of the site are those that were asked for last. It allocates nothing: it is asked before each cycle.
func (t *told) knows(v *state.View) bool {
	n := 0
	for def := range v.CustomResources() {
		if n == len(t.defined) || t.defined[n] != def {
			return false
		}
		n++
	}
	return t.asked && n == len(t.defined)
}

func (l *Loop) logLines(lines []Line) {
	for _, line := range lines {
		if line.Class != "" {
			l.log(line.Event, line.Class, line.Object, line.Text)
			continue
		}
		l.log(line.Event, "Job", string(line.Job), line.Text)
	}
}
