package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// watch waits for the shim's end.
func (s *Site) watch(ctx context.Context, t Task) Event {
	exit, err := s.System.Wait(ctx, s.Spool.TaskDir(t.Key), t.Handle)
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, proc.ErrFenced) {
		return Exited{Exit: exit}
	}
	if own, ok := errors.AsType[*proc.StartError](err); ok {
		// The program ran into what Start would have told, had the mom been there to hear.
		s.Logger.Warn("job not started", "task", t.Key.String(), "err", own)
		return Vanished{}
	}
	if err != nil {
		s.Logger.Error("shim lost", "task", t.Key.String(), "err", err)
		return Vanished{}
	}
	job := t.Key.Job
	s.Lines.Job(pbs.LogDebug, job, "task "+taskID+" terminated")
	s.Lines.Job(pbs.LogJob, job, "Terminated")
	cput := exit.CPU.Truncate(time.Second)
	s.Lines.Job(pbs.LogDebug2, job, fmt.Sprintf("task %s cput=%02d:%02d:%02d", taskID,
		int(cput.Hours()), int(cput.Minutes())%60, int(cput.Seconds())%60))
	s.Lines.Job(pbs.LogJob, job, "kill_job") // the shim ends what its first process left
	s.Lines.Job(pbs.LogJob, job, "no active tasks")
	if exit.Left > 0 {
		s.Lines.Job(pbs.LogError, job, fmt.Sprintf("%d processes survived SIGKILL", exit.Left))
	}
	return Exited{Exit: exit}
}

// measured raises what the shim has measured to what the host knows better.
func (s *Site) measured(t Task, e Exited) Exited {
	if s.Measure == nil {
		return e
	}
	u := s.Measure(t, proc.Usage{CPU: e.Exit.CPU, RSS: e.Exit.MaxRSS})
	if u.RSS > e.Exit.MaxRSS {
		e.Exit.MaxRSS, e.Exit.ShimRSS = u.RSS, 0 // without the shim
	}
	e.Exit.CPU = u.CPU
	return e
}
