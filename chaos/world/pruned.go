package world

import (
	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Stages of a padded run at which a trap strikes.
const (
	PaddedGiven   = "padded given"   // the run is given to its hosts
	PruneDone     = "prune done"     // the mother superior has its smaller assignment on its disk
	PaddedStarted = "padded started" // the program runs
)

// startOf tells what a command means for a padded run, and which job that is.
func startOf(v *state.View, c command.Command) (detail string, job pbs.JobID) {
	switch c := c.(type) {
	case *command.StartJob:
		if j, ok := v.Job(c.Job); ok && j.Substate == pbs.SubStarting && len(j.LastRun().Sisters) > 1 && tolerant(j) {
			return PaddedGiven, j.ID
		}
	case *command.PruneJob:
		return "", c.Job
	case *command.OrderConfirmed:
		for j := range v.Jobs() {
			// The pruning is the first thing that is confirmed of such a run.
			if j.LastRun().MS == c.Host && j.Substate == pbs.SubStarting && j.Releases > 0 && j.LastRun().Release == nil {
				return PruneDone, j.ID
			}
		}
	case *command.JobStarted:
		if j, ok := v.Job(c.Job); ok && j.Releases > 0 && j.Is(c.RunCount) && len(j.LastRun().Sisters) > 0 {
			return PaddedStarted, j.ID
		}
	}
	return "", ""
}

func tolerant(j *state.Job) bool {
	v, ok := j.Resources.Get("select_requested")
	return ok && v != ""
}

// hostOf returns a host of the job that a command is about, the mother superior first; nil if it
// has not so many, or it is down.
func (w *witness) hostOf(c command.Command, n int) (*mom, check.Hit) {
	v := w.r.machine.View()
	_, id := startOf(v, c)
	hit := check.Hit{Job: string(id)}
	var hosts []pbs.HostName
	if j, ok := v.Job(id); ok && j.Live() {
		hit.Count, hosts = uint32(j.RunCount), append([]pbs.HostName{j.LastRun().MS}, j.LastRun().Sisters...)
	}
	if id == "" { // it may be over by now
		_, id = w.r.w.book.lifeOf(v, c)
		own := w.r.w.book.crewOf(id)
		hit.Job, hit.Count, hosts = string(id), uint32(own.run), own.hosts
	}
	if n >= len(hosts) {
		return nil, check.Hit{}
	}
	for _, m := range w.r.w.moms {
		if pbs.HostName(m.name) == hosts[n] && m.done != nil {
			hit.Host, hit.Mother = m.name, string(hosts[0])
			return m, hit
		}
	}
	return nil, check.Hit{}
}
