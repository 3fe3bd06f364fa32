package world

import (
	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// What a command means for a release of hosts, for an ambush at it.
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
			if j.MS == c.Host && j.Modified == w.r.machine.View().Index() {
				return SuspendDone
			}
		}
	case *command.JobEnded:
		j, ok := w.r.machine.View().Job(c.Job)
		if ok && j.RunCount == c.RunCount && j.Phases != nil && j.MS != "" && j.MS != c.Source.Host {
			return HostLeft
		}
	}
	return ""
}

// partOf is a run on one of its hosts.
type partOf struct {
	job  string
	run  uint32
	host string
}

// vacated notes which hosts running jobs have given back since the last view. Whoever replays the past
// comes later than the first who saw it.
func (w *World) vacated(v *state.View) {
	held := make(map[partOf]bool)
	running := make(map[pbs.JobID]pbs.RunCount)
	for j := range v.Jobs() {
		if j.State != pbs.Running && j.State != pbs.Exiting || j.MS == "" {
			continue
		}
		running[j.ID] = j.RunCount
		all, err := j.AllVnodes()
		if err != nil {
			continue
		}
		for _, c := range all {
			for _, p := range c.Parts {
				if vnode, ok := v.Vnode(p.Vnode); ok {
					held[partOf{string(j.ID), uint32(j.RunCount), string(vnode.Host)}] = true
				}
			}
		}
	}
	stands := make(map[partOf]bool)
	for j := range v.Suspensions() {
		stands[partOf{job: string(j.ID), run: uint32(j.RunCount)}] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.Index() <= w.lastHeld {
		return
	}
	w.stand(stands)
	for p := range w.held {
		if run, still := running[pbs.JobID(p.job)]; !held[p] && still && uint32(run) == p.run {
			w.gaveBack = append(w.gaveBack, check.Vacated{Job: p.job, Count: p.run, Host: p.host, At: w.since()})
		}
	}
	w.held, w.lastHeld = held, v.Index()
}
