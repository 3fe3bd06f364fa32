package world

import (
	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

// Stages of a release of hosts at which an ambush strikes.
const (
	ReleaseDone = "release done" // the mother superior has it on its disk
	HostLeft    = "host left"    // nothing of the job is on a released host any more
	SuspendDone = "suspended"    // its mother superior has stopped a job
)

// detail tells of a command of the log what its kind does not.
func (w *witness) detail(c command.Command) string {
	if detail, _ := startOf(w.r.machine.View(), c); detail != "" {
		return detail
	}
	switch c := c.(type) {
	case *command.OrderConfirmed:
		if len(c.Used) > 0 {
			return ReleaseDone
		}
		for j := range w.r.machine.View().Suspensions() {
			if j.LastRun().MS == c.Host && j.Modified == w.r.machine.View().Index() {
				return SuspendDone
			}
		}
	case *command.JobEnded:
		j, ok := w.r.machine.View().Job(c.Job)
		if ok && j.Is(c.RunCount) && j.Run.Phases != nil && j.LastRun().MS != c.Source.Host {
			return HostLeft
		}
	}
	return ""
}

// vacated notes which hosts running jobs have given back since the last view, and which jobs are
// suspended. Whoever replays the past comes later than the first who saw it.
func (k *book) vacated(v *state.View) {
	k.tenants.Note(v, k.since())
	stands := make(map[standing]check.Way)
	for j := range v.Suspensions() {
		stands[standing{string(j.ID), uint32(j.RunCount)}] = wayOf(j)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v.Index() > k.lastStood {
		k.stand(stands)
		k.noteWaits(v)
		k.lastStood = v.Index()
	}
}
