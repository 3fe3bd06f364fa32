package world

import (
	"context"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// The steps in the life of a run over several hosts, as commands of the log tell them, for a trap at one.
const (
	LifeGiven        = "life: given"         // the run is given to its hosts, which join it
	LifeStarted      = "life: started"       // its program runs, and starts others at the sisters
	LifeTold         = "life: told"          // what all hosts have used is told to the servers
	LifeReleaseAsked = "life: release asked" // sisters are to be given back
	LifeReleased     = "life: released"      // the mother superior has that on its disk
	LifeSuspendAsked = "life: suspend asked"
	LifeSuspended    = "life: suspended"    // the mother superior has stopped its programs
	LifeResumeAsked  = "life: resume asked" // of its hosts
	LifeEndAsked     = "life: end asked"    // it is to be deleted
	LifeRerunAsked   = "life: rerun asked"  // it is to end, and to be queued again
	LifeEnded        = "life: ended"        // the mother superior's obit
)

// A crew are the hosts that a run was given to, the mother superior first.
type crew struct {
	run   pbs.RunCount
	hosts []pbs.HostName
}

// lifeOf tells which step in the life of a run over several hosts a command is, and whose run that is.
func (k *book) lifeOf(v *state.View, c command.Command) (step string, job pbs.JobID) {
	switch c := c.(type) {
	case *command.StartJob:
		if j, ok := v.Job(c.Job); ok && j.Substate == pbs.SubStarting && len(j.LastRun().Sisters) > 0 {
			k.muster(j)
			return LifeGiven, j.ID
		}
	case *command.JobStarted:
		return k.wide(v, LifeStarted, c.Job)
	case *command.UsageSample:
		for _, u := range c.Jobs {
			if step, job := k.wide(v, LifeTold, u.Job); step != "" {
				return step, job
			}
		}
	case *command.ReleaseNodes:
		return k.wide(v, LifeReleaseAsked, c.Job)
	case *command.SignalJob:
		switch c.Signal {
		case command.Suspend:
			return k.wide(v, LifeSuspendAsked, c.Job)
		case command.Resume:
			if c.Scheduled { // the manager only asks the scheduler
				return k.wide(v, LifeResumeAsked, c.Job)
			}
		}
	case *command.OrderConfirmed:
		return k.confirmed(v, c)
	case *command.DeleteJob:
		return k.wide(v, LifeEndAsked, c.Job)
	case *command.RerunJob:
		return k.wide(v, LifeRerunAsked, c.Job)
	case *command.JobEnded:
		if own := k.crewOf(c.Job); own.run == c.RunCount && own.hosts[0] == c.Source.Host && !c.NeverStarted {
			return LifeEnded, c.Job
		}
	}
	return "", ""
}

// wide names a step of a job that has sisters now, also if it is about to end.
func (k *book) wide(v *state.View, step string, id pbs.JobID) (string, pbs.JobID) {
	if j, ok := v.Job(id); ok && j.LastRun().MS != "" && len(j.LastRun().Sisters) > 0 && j.State != pbs.Finished {
		k.muster(j)
		return step, id
	}
	return "", ""
}

// confirmed names what a mother superior has done of that for which it is asked.
func (k *book) confirmed(v *state.View, c *command.OrderConfirmed) (string, pbs.JobID) {
	for j := range v.Suspensions() {
		if j.LastRun().MS == c.Host && j.Modified == v.Index() {
			return k.wide(v, LifeSuspended, j.ID)
		}
	}
	if len(c.Used) == 0 {
		return "", ""
	}
	for j := range v.Running() { // its sisters are gone by now
		if own := k.crewOf(j.ID); j.LastRun().MS == c.Host && j.Modified == v.Index() && own.run == j.RunCount {
			return LifeReleased, j.ID
		}
	}
	return "", ""
}

func (k *book) muster(j *state.Job) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.crews[j.ID] = crew{j.RunCount, append([]pbs.HostName{j.LastRun().MS}, j.LastRun().Sisters...)}
}

// crewOf returns the hosts of a job's latest run over several; run is 0 if there was none.
func (k *book) crewOf(id pbs.JobID) crew {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.crews[id]
}

// ofWide does something to running jobs over several hosts again and again, until the trap has struck. What
// is answered does not matter.
func ofWide(ask func(ctx context.Context, w *World, j *state.Job)) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		for w.traps.current.Load() != nil {
			if r := w.leader(); r != nil {
				for j := range r.machine.View().Running() {
					if len(j.LastRun().Sisters) > 0 && w.traps.current.Load() != nil {
						ask(ctx, w, j)
					}
				}
			}
			if !pause(ctx) {
				return nil
			}
		}
		return nil
	}
}

// toAndFro suspends a job, or resumes it.
func toAndFro(ctx context.Context, w *World, j *state.Job) {
	signal := command.Suspend
	if j.Suspended() {
		signal = command.Resume
	} else {
		w.book.wish(check.Suspend, j.ID)
	}
	_, _ = w.manager.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: string(j.ID), Signal: signal}))
}

func end(ctx context.Context, w *World, j *state.Job) {
	w.book.wish(check.Delete, j.ID)
	_, _ = w.manager.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: string(j.ID)}))
}

// wish notes that the world asks for a change of a job.
func (k *book) wish(kind check.Kind, job pbs.JobID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked[check.Wish{Kind: kind, Job: string(job)}]++
}
