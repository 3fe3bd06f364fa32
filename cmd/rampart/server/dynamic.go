package server

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"rampart/cluster/sched"
	"rampart/transport/head"
	"rampart/transport/own"
)

// runDynamic runs a program of server_dyn_res, which nobody but the user of this process may change, without a shell. It
// returns the first line that it prints, of 4096 bytes at most.
func runDynamic(ctx context.Context, command string) (string, error) {
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return "", fmt.Errorf("no program")
	}
	if err := own.Program(fields[0]); err != nil {
		if errors.Is(err, own.ErrForeign) {
			err = foreignProgram{err}
		}
		return "", err
	}
	line, err := firstLine(ctx, fields)
	if errors.Is(err, syscall.ENOEXEC) { // a script that does not name its shell
		line, err = firstLine(ctx, append([]string{"/bin/sh"}, fields...))
	}
	return line, err
}

// foreignProgram is own.ErrForeign as the scheduler knows it.
type foreignProgram struct{ error }

func (foreignProgram) Is(target error) bool { return target == sched.ErrForeign }

func firstLine(ctx context.Context, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // what it leaves behind holds nobody
	var out, faults head.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%w %s", err, strings.TrimSpace(faults.String()))
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return strings.TrimSpace(line), nil
}
