package mover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/transport/head"
)

// scpLook is how often a running scp is asked whether it moves anything.
const scpLook = time.Second

// scp copies to or from a host that is not in the cluster. The program runs as the owner and
// dies with the daemon: it is repeated then, and two must not write one file.
func (m *Mover) scp(ctx context.Context, e files.Transfer) (files.Moved, error) {
	program := ""
	if m.config.SCP != nil {
		program = m.config.SCP()
	}
	if program == "" {
		return files.Moved{}, &files.Error{Reason: fmt.Sprintf("%s is not in the cluster, and there is no scp (PBS_SCP)", e.Host)}
	}
	here, err := names(ctx, e)
	if err != nil {
		return files.Moved{}, err
	}
	there := e.Remote + "@" + e.Host + ":" + e.There
	args := []string{"-B", "-r", "-p", "--"}
	if e.Out {
		args = append(append(args, here...), there)
	} else {
		args = append(args, there, e.Here)
	}
	if err := run(ctx, e, program, args); err != nil {
		return files.Moved{}, err
	}
	if e.Out {
		return files.Moved{Sent: here}, nil
	}
	return files.Moved{}, nil
}

// names returns the files that a pattern means: there is no shell on this side.
func names(ctx context.Context, e files.Transfer) ([]string, error) {
	if !e.Out || e.Output || !files.IsPattern(e.Here) {
		return []string{e.Here}, nil
	}
	found := new([]string)
	err := proc.AsOwner(ctx, e.Owner, func() (err error) {
		*found, err = filepath.Glob(e.Here)
		return err
	})
	if err == nil && len(*found) == 0 {
		err = &files.Error{Reason: e.Here + ": no file matches"}
	}
	if err != nil {
		return nil, err
	}
	return *found, nil
}

func run(ctx context.Context, e files.Transfer, program string, args []string) error {
	ctx, moving, done := watched(ctx)
	defer done()
	cmd := exec.CommandContext(ctx, program, args...)
	var said head.Buffer
	cmd.Stderr = &said
	cmd.Dir, cmd.WaitDelay = "/", 5*time.Second
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + e.Home, "USER=" + e.User, "LOGNAME=" + e.User}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if e.Owner != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: e.Owner.UID, Gid: e.Owner.GID, Groups: e.Owner.Groups}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // ssh, too
	end := make(chan error, 1)
	started := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig counts the thread that has started it
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			close(started)
			end <- err
			return
		}
		started <- cmd.Process.Pid
		end <- cmd.Wait()
	}()
	err := await(end, <-started, moving)
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !exited:
		return &files.Error{Reason: fmt.Sprintf("%s: %v", program, err)}
	}
	return fmt.Errorf("%s %s: %s", filepath.Base(program), strings.Join(args, " "), words(said.String(), err))
}

// await looks now and then whether the program has read or written anything.
func await(end <-chan error, pid int, moving func()) error {
	tick := time.NewTicker(scpLook)
	defer tick.Stop()
	last := ""
	for {
		select {
		case err := <-end:
			return err
		case <-tick.C:
			if now, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid)); err == nil && string(now) != last {
				last = string(now)
				moving()
			}
		}
	}
}

// words returns what the program said, in one line.
func words(said string, err error) string {
	if all := strings.FieldsFunc(said, func(r rune) bool { return r == '\n' || r == '\r' }); len(all) > 0 {
		return strings.Join(all, "; ")
	}
	return err.Error()
}
