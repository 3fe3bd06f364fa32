package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rampart/cluster/sched"
	"rampart/transport/head"
)

// runDynamic runs a program of server_dyn_res, which nobody but the user of this process may change, without a shell. It
// returns the first line that it prints, of 4096 bytes at most.
func runDynamic(ctx context.Context, command string) (string, error) {
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return "", fmt.Errorf("no program")
	}
	if err := ownProgram(fields[0]); err != nil {
		return "", err
	}
	line, err := firstLine(ctx, fields)
	if errors.Is(err, syscall.ENOEXEC) { // a script that does not name its shell
		line, err = firstLine(ctx, append([]string{"/bin/sh"}, fields...))
	}
	return line, err
}

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

// ownProgram refuses a file that somebody else could replace or change.
func ownProgram(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		foreign := ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
		open := info.Mode().Perm()&0o022 != 0 && (!info.IsDir() || info.Mode()&os.ModeSticky == 0)
		if foreign || open {
			return fmt.Errorf("%s: %w: %s can be changed by others", path, sched.ErrForeign, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
