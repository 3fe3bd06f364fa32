package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	Terminate       *ActionScript // instead of SIGTERM
}

// errBadRestart is in the chain of the errors of runs that cannot go on from their checkpoint.
var errBadRestart = errors.New("the job cannot be restarted from its checkpoint")

// recordFile keeps the task beside its checkpoint.
const recordFile = "task.json"

// checkpoints saves running programs by scripts of the site, keeps what they leave, and has runs go on from it.
type checkpoints struct {
	scripts  *siteScripts
	peers    Peers
	spool    *spool.Spool
	settings func() Settings
	lines    Lines
	logger   *slog.Logger
}

// save runs the script that checkpoints and ends the job. What an earlier checkpoint left
// counts until this one is done.
func (c *checkpoints) save(ctx context.Context, t Task, now func() Task) Event {
	script, name := c.settings().CheckpointAbort, "checkpoint_abort"
	if t.Checkpoints.Hold.Joint {
		script, name = c.settings().Checkpoint, "checkpoint"
	}
	if script == nil {
		return Checkpointed{Failure: "there is no $action " + name}
	}
	err := c.saveWith(ctx, t, script, now)
	if err != nil {
		c.lines.Job(pbs.LogError, t.Key.Job, "checkpoint failed: "+err.Error())
		return Checkpointed{Failure: err.Error()}
	}
	c.lines.Job(pbs.LogJob, t.Key.Job, name+" script "+script.Path+": exit code 0")
	c.lines.Job(pbs.LogJob, t.Key.Job, "checkpointed to "+c.spool.Checkpoint(t.Key.Job))
	return Checkpointed{}
}

// endByScript has the site's script tell the job to end, and reports whether there is one. It is stopped when the job has ended.
func (r *Runner) endByScript(ctx context.Context) bool {
	script := r.site.Settings().Terminate
	if script == nil || r.ender.Swap(true) {
		return script != nil
	}
	r.haltable(ctx, func(ending context.Context, t Task) Event {
		defer r.ender.Store(false)
		err := r.site.scripts().run(ending, t, script, saved{id: firstProgram, session: int64(t.Handle.Session)})
		if err != nil {
			r.site.Lines.Job(pbs.LogError, t.Key.Job, "terminate script failed: "+err.Error())
			return Terminated{Failure: err.Error()}
		}
		r.site.Lines.Job(pbs.LogJob, t.Key.Job, "terminate script "+script.Path+": exit code 0")
		return Terminated{}
	})
	return true
}

// siteScripts runs programs of the site as the mom, about a job.
type siteScripts struct {
	host     pbs.HostName
	owners   owners
	folders  *folders
	spool    *spool.Spool
	settings func() Settings
	port     int
	socket   string
}

// run runs a script of the site as the mom. It is killed when it takes too long, or ctx ends.
func (x *siteScripts) run(ctx context.Context, t Task, script *ActionScript, p saved) error {
	if script.Timeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, script.Timeout, fmt.Errorf("it took longer than %s", script.Timeout))
		defer cancel()
		ctx = bounded
	}
	a, err := x.owners.account(ctx, t)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, script.Path, script.args(t, p)...)
	cmd.Env, cmd.Dir = x.environment(t, a, p), "/"
	return run(ctx, cmd)
}

// Prologue runs a program of the site before that of the job, as the mom, in the home of the job's owner, for so long at most.
// The job's output begins with what it prints.
func (s *Site) Prologue(ctx context.Context, t Task, path string, most time.Duration, args ...string) error {
	return s.scripts().runProgram(ctx, t, path, most, args, func(kind string) (*os.File, error) {
		return os.OpenFile(s.Spool.Head(t.Key, kind), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	})
}

// Epilogue runs a program of the site when that of the job has ended, as Prologue does. What it prints is added to the job's
// output, if that is in the spool.
func (s *Site) Epilogue(ctx context.Context, t Task, path string, most time.Duration, args ...string) error {
	return s.scripts().runProgram(ctx, t, path, most, args, func(kind string) (*os.File, error) {
		return os.OpenFile(s.Spool.Output(t.Key.Job, kind), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	})
}

func (x *siteScripts) runProgram(ctx context.Context, t Task, path string, most time.Duration, args []string, open func(kind string) (*os.File, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("it took longer than %s", most))
	defer cancel()
	a, err := x.owners.account(ctx, t)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = x.environment(t, a, saved{id: firstProgram, session: int64(t.Handle.Session)}), a.Home
	for kind, into := range map[string]*io.Writer{stdout: &cmd.Stdout, stderr: &cmd.Stderr} {
		if streams := t.streams(); len(streams) == 1 {
			kind = streams[0]
		}
		if f, err := open(kind); err == nil {
			defer f.Close()
			*into = f
		}
	}
	return run(ctx, cmd)
}

// run runs a program in a session of its own; when ctx ends, all of that session is killed.
func run(ctx context.Context, cmd *exec.Cmd) error {
	cmd.WaitDelay = killGroupAfter
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig counts the thread that has started it
		defer runtime.UnlockOSThread()
		ended <- cmd.Run()
	}()
	err := <-ended
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return nil
}

// args returns the arguments with PBS's words replaced.
func (a *ActionScript) args(t Task, p saved) []string {
	words := strings.NewReplacer("%globid", "none", "%jobid", string(t.Key.Job), "%sid", strconv.FormatInt(p.session, 10),
		"%taskid", p.name(), "%path", filepath.Join(p.dir, p.name()))
	out := make([]string, len(a.Args))
	for i, arg := range a.Args {
		out[i] = words.Replace(arg)
	}
	return out
}

// environment returns what scripts of the site find: nothing that the user has chosen.
func (x *siteScripts) environment(t Task, a Account, p saved) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"GID=" + strconv.FormatUint(uint64(a.GID), 10), "UID=" + strconv.FormatUint(uint64(a.UID), 10),
		"HOME=" + a.Home, "LOGNAME=" + a.Name, "USER=" + a.Name, "SHELL=" + t.shell(a, x.host),
		"PBS_GLOBID=none", "PBS_JOBID=" + string(t.Key.Job), "PBS_JOBNAME=" + t.Attrs.Get("Job_Name"),
		"PBS_JOBCOOKIE=" + t.Cookie, "PBS_MOMPORT=" + strconv.Itoa(x.port), "PBS_NODEFILE=" + x.spool.NodeFile(t.Key.Job),
		"PBS_NODENUM=" + strconv.Itoa(max(0, t.Node())), "PBS_TASKNUM=" + strconv.FormatUint(uint64(p.id), 10),
		"PBS_QUEUE=" + t.Attrs.Get("queue"), "PBS_SID=" + strconv.FormatInt(p.session, 10),
		taskSocket + "=" + x.socket, "TMPDIR=" + x.folders.tmpDir(t),
	}
	for name, value := range x.settings().Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// restarting puts the site's script in the place of the program of a run that goes on from a
// checkpoint. The script becomes the job: it runs as the mom, and what it leaves is the job's.
func (c *checkpoints) restarting(t Task, a Account, spec *proc.Spec) error {
	if t.Checkpoints.Restart == nil {
		return c.spool.DropCheckpoint(t.Key.Job) // it starts anew
	}
	script, dir := c.settings().Actions.Restart, c.spool.Checkpoint(t.Key.Job)
	if script == nil {
		return fmt.Errorf("%w: there is no $action restart", errBadRestart)
	}
	session, err := c.sessionOf(t)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRestart, err)
	}
	c.byScript(t, a, spec, script, saved{id: firstProgram, session: session, dir: dir})
	return nil
}

// byScript has a program brought back by the script of the site.
func (c *checkpoints) byScript(t Task, a Account, spec *proc.Spec, script *ActionScript, p saved) {
	spec.Path, spec.Args = script.Path, append([]string{script.Path}, script.args(t, p)...)
	spec.Env, spec.Dir, spec.Stdin, spec.Restart = c.scripts.environment(t, a, p), "/", "", true
}

// sessionOf returns the session that was checkpointed: that of the last checkpoint that is whole,
// of which the servers need not have heard.
func (c *checkpoints) sessionOf(t Task) (int64, error) {
	if err := c.spool.SettleCheckpoint(t.Key.Job); err != nil {
		return 0, err
	}
	made, err := c.record(c.spool.Checkpoint(t.Key.Job))
	if err != nil {
		return 0, err
	}
	if made.Handle.Session == 0 {
		return t.Checkpoints.Restart.Session, nil
	}
	return int64(made.Handle.Session), nil
}

// record reads the record that lies beside what scripts have saved.
func (c *checkpoints) record(dir string) (made Task, err error) {
	text, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return Task{}, err
	}
	if json.Unmarshal(text, &made) != nil {
		return Task{}, nil
	}
	return made, nil
}

// DiscardCheckpoint removes the checkpoint of a job, and, if no run of it is there, what the
// run that was checkpointed has left. One of a later run than the last that is meant stays.
func (s *Site) DiscardCheckpoint(ctx context.Context, k spool.TaskKey, alone bool) error {
	t, err := s.checkpoints().record(s.Spool.Checkpoint(k.Job))
	if err == nil && t.Key.Job == k.Job && t.Key.Run > k.Run {
		return nil
	}
	if alone && err == nil && t.Key.Job == k.Job {
		t.Checkpoints.Kept = PartNone
		if !t.Sister() {
			s.output().discard(ctx, t)
			s.output().drop(t)
		}
		s.folders().clean(ctx, t)
	}
	return s.Spool.DropCheckpoint(k.Job)
}

// save is stopped as a staging is.
func (r *Runner) save(ctx context.Context) {
	r.haltable(ctx, func(saving context.Context, t Task) Event {
		r.saving <- struct{}{}
		defer func() { <-r.saving }()
		return r.site.checkpoints().save(saving, t, r.Task)
	})
}

// keep leaves output and folders of a checkpointed run where they are.
func (r *Runner) keep(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event {
		return r.site.after(ctx, t, func(context.Context, Task) Event { return Delivered{} })
	})
}

func (t Task) unsavedFact() spool.Fact {
	return spool.Fact{Task: t.Key, NotCheckpointed: &spool.NotCheckpointed{Reason: t.Checkpoints.Hold.Failure}}
}
