package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/transport/pause"
)

// programDir returns where the shim of a program keeps its files, and the program its output.
func (s *Site) programDir(t Task, id uint32) string {
	return filepath.Join(s.Spool.TaskDir(t.Key), fmt.Sprintf("task-%08x", id))
}

// ProgramOutput returns the files that a program's output and error output are in.
func (r *Runner) ProgramOutput(id uint32) (output, failure string) {
	dir := r.site.programDir(r.Task(), id)
	return filepath.Join(dir, stdout), filepath.Join(dir, stderr)
}

// startProgram starts a program, or finds the one that was started before.
func (s *Site) startProgram(ctx context.Context, t Task, id uint32) Event {
	p, ok := t.Programs.Of(id)
	if !ok {
		return nil
	}
	h, err := s.spawn(ctx, t, p)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		if found, there, barErr := s.System.Forestall(s.programDir(t, id)); barErr == nil && there {
			return ProgramUp{ID: id, Handle: found}
		}
		return ProgramDown{ID: id, Failed: err.Error(), Exit: proc.Exit{Status: 255}}
	}
	s.Lines.Job(pbs.LogJob, t.Key.Job, fmt.Sprintf("task %08x started, %s", id, p.Args[0]))
	return ProgramUp{ID: id, Handle: h}
}

func (s *Site) spawn(ctx context.Context, t Task, p Program) (proc.Handle, error) {
	a, err := s.owners().account(ctx, t)
	if err != nil {
		return proc.Handle{}, fmt.Errorf("account of the owner: %w", err)
	}
	dir := s.programDir(t, p.ID)
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return proc.Handle{}, err
	}
	if err := s.folders().makeTmpDir(ctx, t, a); err != nil {
		return proc.Handle{}, err
	}
	env := s.programEnvironment(t, a, p)
	spec := proc.Spec{
		Job: string(t.Key.Job), Path: lookPath(p.Args[0], env), Args: p.Args, Env: env, Dir: a.Home,
		Stdout: filepath.Join(dir, stdout), Stderr: filepath.Join(dir, stderr),
		Owner: s.owners().owner(a), Umask: t.umask(), Limits: t.rlimits(), Cookie: t.Cookie, Deadline: s.Deadline, Lapse: t.Lapse,
		Lingers: true,
	}
	if s.Hooks != nil {
		if _, err := s.Hooks.Launch(ctx, t, &spec); err != nil {
			return proc.Handle{}, err
		}
	}
	if p.Session != 0 {
		if err := s.restoredSpec(t, a, p, &spec); err != nil {
			return proc.Handle{}, err
		}
	}
	return s.System.Start(ctx, dir, spec)
}

// programEnvironment returns the job's, with what was sent along, and the number of task and node. The
// node file is missing: by that hooks tell such a program from the start of the job
// (specification: reliable-startup section 7).
func (s *Site) programEnvironment(t Task, a Account, p Program) []string {
	env := s.environment(t, a)
	unset := func(name string) {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	}
	set := func(assignment string) {
		name, _, _ := strings.Cut(assignment, "=")
		unset(name)
		env = append(env, assignment)
	}
	unset("PBS_NODEFILE")
	for _, e := range p.Env {
		set(e)
	}
	for _, e := range s.environment(t, a) { // what tells job and host apart is not to be replaced
		if name, _, _ := strings.Cut(e, "="); slices.Contains(ownVariables, name) {
			set(e)
		}
	}
	set("PBS_NODENUM=" + strconv.Itoa(p.Node))
	set("PBS_TASKNUM=" + strconv.FormatUint(uint64(p.ID), 10))
	return env
}

// ownVariables come from the host and the job, whoever starts a program.
var ownVariables = []string{"PBS_JOBID", "PBS_JOBCOOKIE", "PBS_MOMPORT", taskSocket, "TMPDIR"}

// recoverProgram finds out whether a program was started before the mom died. One that was
// not is not started any more: whoever asked for it may be gone.
func (s *Site) recoverProgram(_ context.Context, t Task, id uint32) Event {
	h, found, err := s.System.Forestall(s.programDir(t, id))
	switch {
	case err != nil:
		return ProgramDown{ID: id, Failed: err.Error(), Exit: proc.Exit{Status: 255}}
	case !found:
		return ProgramDown{ID: id, Failed: "the mom was restarted before it ran", Exit: proc.Exit{Status: 255}}
	}
	return ProgramUp{ID: id, Handle: h}
}

// watchProgram waits for a program's end.
func (s *Site) watchProgram(ctx context.Context, t Task, id uint32) Event {
	p, ok := t.Programs.Of(id)
	if !ok {
		return nil
	}
	if p.Attached {
		for {
			used, err := s.System.Usage(p.Handle)
			if err == nil && used[0].Processes == 0 {
				return ProgramDown{ID: id}
			}
			if !pause.For(ctx, attachedEvery) {
				return nil
			}
		}
	}
	exit, over, err := proc.Exit{}, false, error(nil)
	if p.State == ProgramOver {
		exit, err = s.System.Wait(ctx, s.programDir(t, id), p.Handle)
	} else {
		exit, over, err = s.System.WaitFirst(ctx, s.programDir(t, id), p.Handle)
	}
	if ctx.Err() != nil {
		return nil
	}
	if over && err == nil {
		return ProgramLeft{ID: id, Exit: exit}
	}
	job := t.Key.Job
	s.Lines.Job(pbs.LogDebug, job, fmt.Sprintf("task %08x terminated", id))
	if own, failed := errors.AsType[*proc.StartError](err); failed {
		return ProgramDown{ID: id, Failed: own.Reason, Exit: proc.Exit{Status: 255}}
	}
	if err != nil {
		s.Logger.Warn("program lost", "task", t.Key.String(), "program", id, "err", err)
		_ = s.System.Signal(p.Handle, 9) // what the shim left behind must not outlive the report
		return ProgramDown{ID: id, Exit: proc.Exit{Status: pbs.ExitKilled}}
	}
	cput := exit.CPU.Truncate(time.Second)
	s.Lines.Job(pbs.LogDebug2, job, fmt.Sprintf("task %08x cput=%02d:%02d:%02d", id,
		int(cput.Hours()), int(cput.Minutes())%60, int(cput.Seconds())%60))
	return ProgramDown{ID: id, Exit: exit}
}
