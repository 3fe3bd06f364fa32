package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/transport/pause"
)

// ErrNoAccount is what Accounts return for an owner that this host does not know.
var ErrNoAccount = errors.New("no account on this host")

// errRootScript is the error of a start that $reject_root_scripts refuses.
var errRootScript = errors.New("scripts of root are rejected on this host ($reject_root_scripts)")

// fetchAgain is the pause between attempts to get a script while no server answers.
const fetchAgain = 5 * time.Second

// fetch gets the script on disk. It goes on trying until the servers answer, or the
// task is killed.
func (s *Site) fetch(ctx, start context.Context, t Task) Event {
	if !t.Script {
		return Fetched{}
	}
	return s.confirm(ctx, start, t)
}

// take begins a sister's part.
func (s *Site) take(ctx, hooks context.Context, t Task) Event {
	if err := s.checkpoints().adopt(t); err != nil {
		status := pbs.ExitRetry
		if errors.Is(err, errBadRestart) {
			status = pbs.ExitBadRestart
		}
		return unless(ctx, Failed{Status: status, Reason: err.Error(), Fault: s.fault(err)})
	}
	used, err := s.begun(hooks, t)
	if err != nil {
		return unless(ctx, Failed{Status: pbs.ExitRetry, Reason: err.Error(), Hook: true, Fault: s.fault(err)})
	}
	return Fetched{Used: used, Known: t.Known}
}

// confirm asks for the script of a run, which the servers give while the run counts. A kill ends start, and
// waits for no answer.
func (s *Site) confirm(ctx, start context.Context, t Task) Event {
	for {
		var err error
		switch fetch := func(to io.Writer) error { return s.Scripts.Script(start, t.Key, to) }; {
		case t.Sister():
			t, err = s.admit(start, t)
		case t.Script:
			err = s.Spool.SaveScript(t.Key, fetch)
		default:
			err = fetch(io.Discard)
		}
		if start.Err() != nil {
			return nil
		}
		if err == nil {
			if t.Sister() {
				return s.take(ctx, start, t)
			}
			return Fetched{}
		}
		if errors.Is(err, spool.ErrDisk) {
			return Failed{Status: pbs.ExitRetry, Reason: err.Error(), Fault: s.Host}
		}
		if refusal, ok := errors.AsType[*pbs.Error](err); ok && refusal.Code != pbs.NoQuorum {
			return Failed{Status: pbs.ExitRetry, Reason: fmt.Sprintf("fetch script: %v", err)}
		}
		s.Logger.Warn("script not fetched", "job", t.Key.Job, "err", err)
		if !pause.For(start, fetchAgain) {
			return nil
		}
	}
}

// launch starts the shim, or finds the one that was started before. The hooks before it end
// with a context of their own.
func (r *Runner) launch(ctx, hooks context.Context, t Task) Event {
	s := r.site
	spec, account, used, err := r.prepare(ctx, hooks, t)
	never, h := err != nil && r.fresh, proc.Handle{} // whether it is sure that there is no shim
	if err == nil {
		h, err = s.System.Start(ctx, s.Spool.TaskDir(t.Key), spec)
		never = errors.Is(err, proc.ErrNoShim) && r.fresh
		err = startFailed(err)
	}
	switch {
	case ctx.Err() != nil:
		return nil // the mom goes away; the next one looks for the shim
	case err == nil:
		s.Lines.Job(pbs.LogJob, t.Key.Job, "Started, pid = "+strconv.Itoa(h.Session))
		s.Lines.Job(pbs.LogJob, t.Key.Job, "task "+taskID+" started, "+s.programName(t))
		return Launched{Handle: h, JobDir: s.folders().jobDir(t, account), At: time.Now().UnixNano(), Used: used, Programs: s.checkpoints().restored(t)}
	}
	status := pbs.ExitRetry
	_, own := errors.AsType[*proc.StartError](err)
	fenced := errors.Is(err, proc.ErrFenced)
	if own || errors.Is(err, ErrNoAccount) {
		status = pbs.ExitOwnFault
	}
	if errors.Is(err, errBadRestart) {
		status = pbs.ExitBadRestart
	}
	return Failed{Status: status, Code: hookCode(err), Reason: err.Error(), Barred: own || fenced || never, Fault: s.fault(err)}
}

// bar makes sure that no shim starts any more. One that a mom has spawned and that has
// not come to claim its folder is found nowhere, and would start a run that was reported
// as never started (L2).
func (s *Site) bar(ctx context.Context, t Task) Event {
	for {
		h, found, err := s.System.Forestall(s.Spool.TaskDir(t.Key))
		switch {
		case err == nil && !found && t.goesOn():
			return Delivered{}
		case err == nil && !found:
			return s.output().discard(ctx, t)
		case err == nil:
			account, _ := s.owners().account(ctx, t)
			return Found{Launched{Handle: h, JobDir: s.folders().jobDir(t, account), At: time.Now().UnixNano()}}
		}
		s.Logger.Warn("shim not forestalled", "task", t.Key.String(), "err", err)
		if !pause.For(ctx, again) {
			return nil
		}
	}
}

// recover finds out whether a shim was started before the mom died.
func (s *Site) recover(ctx context.Context, t Task) Event {
	h, found, err := s.System.Find(s.Spool.TaskDir(t.Key))
	switch {
	case err != nil:
		return Failed{Status: pbs.ExitRetry, Reason: err.Error()}
	case !found:
		return NotFound{}
	}
	account, _ := s.owners().account(ctx, t)
	return Launched{Handle: h, JobDir: s.folders().jobDir(t, account), At: time.Now().UnixNano(), Programs: s.checkpoints().restored(t)}
}

func (s *Site) programName(t Task) string {
	if t.Script {
		return s.Spool.Script(t.Key)
	}
	return t.executable()
}

// prepare makes all that the program needs, and runs the hooks before it.
func (r *Runner) prepare(ctx, hooks context.Context, t Task) (spec proc.Spec, a Account, used []spool.Used, err error) {
	s := r.site
	if a, err = s.owners().account(ctx, t); err != nil {
		return spec, a, nil, fmt.Errorf("account of the owner: %w", err)
	}
	if t.Script && a.UID == 0 && s.Settings().NoRootJobs {
		return spec, a, nil, errRootScript
	}
	nodes, err := t.nodeFile(string(s.Host))
	if err != nil {
		return spec, a, nil, &proc.StartError{Reason: err.Error()}
	}
	if err := s.folders().make(ctx, t, a); err != nil {
		return spec, a, nil, err
	}
	if err := s.Spool.SaveNodeFile(t.Key.Job, nodes); err != nil {
		return spec, a, nil, ofHost(err)
	}
	if t.Script && s.SwitchUser {
		if err := os.Chown(s.Spool.Script(t.Key), int(a.UID), int(a.GID)); err != nil {
			return spec, a, nil, ofHost(fmt.Errorf("give script to its owner: %w", err))
		}
	}
	spec = s.spec(t, a)
	s.output().tellIndirect(t, a)
	if used, err = r.launching(hooks, t, a, &spec); err != nil {
		return spec, a, nil, err
	}
	if err := s.checkpoints().restarting(t, a, &spec); err != nil {
		return spec, a, nil, err
	}
	return spec, a, used, s.restartSisters(hooks, t)
}

func (s *Site) spec(t Task, a Account) proc.Spec {
	env := s.environment(t, a)
	p := s.program(t, a, env)
	spec := proc.Spec{
		Job: string(t.Key.Job), Path: p.path, Args: p.args, Env: env, Dir: s.directory(t, a), Stdin: p.stdin,
		Stdout: s.Spool.Output(t.Key.Job, stdout), Stderr: s.Spool.Output(t.Key.Job, stderr),
		Owner: s.owners().owner(a), Umask: t.umask(), Limits: t.rlimits(), Cookie: t.Cookie, Deadline: s.Deadline, Lapse: t.Lapse,
	}
	switch t.Attrs.Get("Join_Path") {
	case "oe":
		spec.Stderr, spec.Apart = spec.Stdout, spec.Stderr
	case "eo":
		spec.Stdout, spec.Apart = spec.Stderr, spec.Stdout
	}
	spec.StdoutHead, spec.StderrHead = s.Spool.Head(t.Key, stdout), s.Spool.Head(t.Key, stderr)
	spec.StdoutInPlace, spec.StderrInPlace = s.output().direct(t, a, stdout), s.output().direct(t, a, stderr)
	spec.Again = t.Key.Run > 1
	if t.interactive() {
		spec.Piped = t.Attrs.Get("interactive_pipes") == "True"
		spec.Terminal, spec.Stdout, spec.Stderr = !spec.Piped, "", ""
		spec.Display = t.Attrs.Get("forward_x11_cookie")
	}
	if nice, ok := t.limit("nice"); ok {
		spec.Nice = int(nice)
	}
	return spec
}

// directory returns where the program starts: where the user asked for with -W pwd, or in the
// job's folder, which is the owner's home unless sandbox names another.
func (s *Site) directory(t Task, a Account) string {
	if dir := t.Attrs.Get("pwd"); dir != "" {
		return dir
	}
	return s.folders().jobDir(t, a)
}

// umask returns the job's umask; PBS's default closes the output to others.
func (o Order) umask() int {
	n, err := strconv.ParseInt(o.Attrs.Get("umask"), 8, 32)
	if err != nil {
		return 0o77
	}
	return int(n) & 0o777
}

func (o Order) rlimits() []proc.Limit {
	var all []proc.Limit
	for _, l := range []struct {
		name  string
		which int
		unit  uint64
	}{
		{"pcput", unix.RLIMIT_CPU, 1},
		{"pvmem", unix.RLIMIT_AS, 1024},
		{"pmem", unix.RLIMIT_RSS, 1024},
		{"file", unix.RLIMIT_FSIZE, 1024},
	} {
		if n, ok := o.limit(l.name); ok {
			all = append(all, proc.Limit{Resource: l.which, Value: uint64(n) * l.unit})
		}
	}
	return all
}

// lookPath finds a bare name in the PATH of the job's environment.
func lookPath(name string, env []string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, v := range env {
		list, isPath := strings.CutPrefix(v, "PATH=")
		if !isPath {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			full := filepath.Join(dir, name)
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return full
			}
		}
	}
	return name
}
