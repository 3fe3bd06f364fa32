package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// An ActionScript is a program of the site that the mom runs in place of what it would do
// itself: a line $action NAME TIMEOUT !PATH ARG... of its configuration.
type ActionScript struct {
	Timeout time.Duration // 0: it may take as long as it likes
	Path    string
	Args    []string
}

// Actions are the scripts of the site; nil: there is none.
type Actions struct {
	Checkpoint      *ActionScript // after which the job runs on
	CheckpointAbort *ActionScript
	Restart         *ActionScript
}

// errBadRestart is in the chain of the errors of runs that cannot go on from their checkpoint.
var errBadRestart = errors.New("the job cannot be restarted from its checkpoint")

// recordFile keeps the task beside its checkpoint.
const recordFile = "task.json"

// save runs the script that checkpoints and ends the job. What an earlier checkpoint left
// counts until this one is done.
func (s *Site) save(ctx context.Context, t Task) Event {
	script := s.Settings().CheckpointAbort
	if script == nil {
		return Checkpointed{Failure: "there is no $action checkpoint_abort"}
	}
	err := s.saveWith(ctx, t, script)
	if err != nil {
		s.Lines.Job(eventError, t.Key.Job, "checkpoint failed: "+err.Error())
		return Checkpointed{Failure: err.Error()}
	}
	s.Lines.Job(eventJob, t.Key.Job, "checkpointed")
	return Checkpointed{}
}

func (s *Site) saveWith(ctx context.Context, t Task, script *ActionScript) error {
	dir := s.Spool.Checkpoint(t.Key.Job)
	fresh, err := s.Spool.NewCheckpoint(t.Key.Job)
	if err == nil {
		err = s.runScript(ctx, t, script, dir, int64(t.Handle.Session))
	}
	if err == nil {
		var record []byte
		if record, err = json.Marshal(t); err == nil {
			err = os.WriteFile(filepath.Join(dir, recordFile), record, 0o600)
		}
	}
	return errors.Join(err, fresh(err == nil))
}

// runScript runs a script of the site as the mom, in a session of its own; when it takes too
// long, or ctx ends, all of that session is killed.
func (s *Site) runScript(ctx context.Context, t Task, script *ActionScript, dir string, session int64) error {
	if script.Timeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, script.Timeout, fmt.Errorf("it took longer than %s", script.Timeout))
		defer cancel()
		ctx = bounded
	}
	a, err := s.account(ctx, t)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, script.Path, script.args(t, dir, session)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = s.scriptEnvironment(t, a, session), "/", killGroupAfter
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig counts the thread that has started it
		defer runtime.UnlockOSThread()
		ended <- cmd.Run()
	}()
	if err = <-ended; ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", script.Path, err)
	}
	return nil
}

// args returns the arguments with PBS's words replaced.
func (a *ActionScript) args(t Task, dir string, session int64) []string {
	words := strings.NewReplacer("%globid", "none", "%jobid", string(t.Key.Job), "%sid", strconv.FormatInt(session, 10),
		"%taskid", taskID, "%path", filepath.Join(dir, taskID))
	out := make([]string, len(a.Args))
	for i, arg := range a.Args {
		out[i] = words.Replace(arg)
	}
	return out
}

// scriptEnvironment is what scripts of the site find: nothing that the user has chosen.
func (s *Site) scriptEnvironment(t Task, a Account, session int64) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"GID=" + strconv.FormatUint(uint64(a.GID), 10), "UID=" + strconv.FormatUint(uint64(a.UID), 10),
		"HOME=" + a.Home, "LOGNAME=" + a.Name, "USER=" + a.Name, "SHELL=" + s.shell(t, a),
		"PBS_GLOBID=none", "PBS_JOBID=" + string(t.Key.Job), "PBS_JOBNAME=" + t.Attrs.Get("Job_Name"),
		"PBS_JOBCOOKIE=" + t.Cookie, "PBS_MOMPORT=" + strconv.Itoa(s.Port), "PBS_NODEFILE=" + s.Spool.NodeFile(t.Key.Job),
		"PBS_NODENUM=0", "PBS_TASKNUM=1", "PBS_QUEUE=" + t.Attrs.Get("queue"), "PBS_SID=" + strconv.FormatInt(session, 10),
		taskSocket + "=" + s.Socket, "TMPDIR=" + s.tmpDir(t),
	}
	for name, value := range s.Settings().Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// restarting puts the site's script in the place of the program of a run that goes on from a
// checkpoint. The script becomes the job: it runs as the mom, and what it leaves is the job's.
func (s *Site) restarting(t Task, a Account, spec *proc.Spec) error {
	if t.Restart == nil {
		return s.Spool.DropCheckpoint(t.Key.Job) // it starts anew
	}
	script, dir := s.Settings().Actions.Restart, s.Spool.Checkpoint(t.Key.Job)
	if script == nil {
		return fmt.Errorf("%w: there is no $action restart", errBadRestart)
	}
	session, err := s.sessionOf(t)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRestart, err)
	}
	spec.Path, spec.Args = script.Path, append([]string{script.Path}, script.args(t, dir, session)...)
	spec.Env, spec.Dir, spec.Stdin, spec.Restart = s.scriptEnvironment(t, a, session), "/", "", true
	return nil
}

// sessionOf returns the session that was checkpointed: that of the last checkpoint that is whole,
// of which the servers need not have heard.
func (s *Site) sessionOf(t Task) (int64, error) {
	if err := s.Spool.SettleCheckpoint(t.Key.Job); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(s.Spool.Checkpoint(t.Key.Job), recordFile))
	if err != nil {
		return 0, err
	}
	var made Task
	if json.Unmarshal(text, &made) != nil || made.Handle.Session == 0 {
		return t.Restart.Session, nil
	}
	return int64(made.Handle.Session), nil
}

// DiscardCheckpoint removes the checkpoint of a job, and, if no run of it is there, what the
// run that was checkpointed has left.
func (s *Site) DiscardCheckpoint(ctx context.Context, job pbs.JobID, alone bool) error {
	text, err := os.ReadFile(filepath.Join(s.Spool.Checkpoint(job), recordFile))
	var t Task
	if alone && err == nil && json.Unmarshal(text, &t) == nil && t.Key.Job == job {
		s.discard(t)
		s.clean(ctx, t)
	}
	return s.Spool.DropCheckpoint(job)
}

// save is stopped as a staging is.
func (r *Runner) save(ctx context.Context) {
	r.haltable(ctx, func(saving context.Context, t Task) Event {
		r.saving <- struct{}{}
		defer func() { <-r.saving }()
		return r.site.save(saving, t)
	})
}

// keep leaves output and folders of a checkpointed run where they are.
func (r *Runner) keep(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event {
		return r.site.after(ctx, t, func(context.Context, Task) Event { return Delivered{} })
	})
}

func (t Task) unsavedFact() spool.Fact {
	return spool.Fact{Task: t.Key, NotCheckpointed: &spool.NotCheckpointed{Reason: t.Saving.Failure}}
}
