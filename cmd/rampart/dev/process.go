package dev

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// A process is one child of the supervisor. done is closed when it has ended and
// its pid file is gone; err is set by then.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// start runs a daemon in a process group of its own, so that a Ctrl-C of the
// terminal reaches the supervisor alone. exited is called when it has ended.
func start(l layout, name string, cmd *exec.Cmd, exited func(*process)) (*process, error) {
	out, err := os.OpenFile(l.logFile(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close() // the child has its own copy
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, done: make(chan struct{})}
	pid := strconv.Itoa(cmd.Process.Pid) + "\n"
	if err := os.WriteFile(l.pidFile(name), []byte(pid), 0o644); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	go func() { // ends with the child, which the keeper ends at the latest
		p.err = cmd.Wait()
		if now, err := os.ReadFile(l.pidFile(name)); err == nil && string(now) == pid {
			_ = os.Remove(l.pidFile(name))
		}
		close(p.done)
		exited(p)
	}()
	return p, nil
}

// tail returns the last lines of a process's log, for an error message.
func (l layout) tail(name string) string {
	data, err := os.ReadFile(l.logFile(name))
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-10):], []byte("\n")))
}

// environment returns os.Environ with the PBS variables of the caller replaced.
func environment(extra ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PBS_") && !strings.HasPrefix(v, "RAMPART_") {
			env = append(env, v)
		}
	}
	return append(env, extra...)
}
