package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long the keeper waits for a signal's effect before it takes the next stronger one.
const (
	momGrace     = 8 * time.Second
	replicaGrace = 5 * time.Second
	killGrace    = 3 * time.Second
	pollEvery    = 20 * time.Millisecond
)

// A keeper is the process that stops everything when the supervisor is gone.
type keeper struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startKeeper starts the keeper in a session of its own: no signal of the terminal
// reaches it, only the end of the pipe.
func startKeeper(binary string, l layout) (*keeper, error) {
	cmd := exec.Command(binary, "dev", "keep", "--dir", l.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	return &keeper{cmd: cmd, pipe: pipe}, nil
}

// stop lets the keeper stop every process and waits until it has.
func (k *keeper) stop() error { return errors.Join(k.pipe.Close(), k.cmd.Wait()) }

// Keep waits for the end of hold, the pipe from the supervisor, and stops every
// process of the cluster in dir.
func Keep(ctx context.Context, dir string, hold io.Reader) error {
	_, _ = io.Copy(io.Discard, hold) // any end of the pipe is the end of the supervisor
	l := layout{dir}
	p, err := l.load()
	if err != nil {
		return err
	}
	var moms []string
	for _, m := range p.Moms {
		moms = append(moms, m.Name)
	}
	err = l.end(ctx, moms, momGrace) // the moms first: they end their jobs and tell the replicas
	l.endJobs(ctx)
	return errors.Join(err, l.end(ctx, p.Replicas, replicaGrace))
}

// end sends SIGTERM to the named processes, and SIGKILL to those that are still
// there after the grace. A stopped process is woken to hear it.
func (l layout) end(ctx context.Context, names []string, grace time.Duration) error {
	var pids []int
	for _, name := range names {
		if pid, ok := l.pid(name); ok {
			pids = append(pids, pid)
		}
	}
	signal(pids, syscall.SIGTERM)
	signal(pids, syscall.SIGCONT)
	if gone(ctx, pids, grace) {
		return nil
	}
	signal(pids, syscall.SIGKILL)
	if !gone(ctx, pids, killGrace) {
		return fmt.Errorf("some of the processes %v did not end", pids)
	}
	return nil
}

// endJobs kills the shims that are left, those of moms that were already dead, and
// everything below them.
func (l layout) endJobs(ctx context.Context) {
	for range 5 { // a tree that forks while it dies needs more than one look
		pids := l.leftovers()
		if len(pids) == 0 || ctx.Err() != nil {
			return
		}
		signal(pids, syscall.SIGKILL)
		gone(ctx, pids, killGrace)
	}
}

// pid returns the process that the pid file names, if it is alive and one of this
// cluster: a number may have been used again since.
func (l layout) pid(name string) (int, bool) {
	data, err := os.ReadFile(l.pidFile(name))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || !alive(pid) {
		return 0, false
	}
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return pid, err == nil && strings.Contains(string(env), "PBS_HOME="+l.home(name)+"\x00")
}

// leftovers returns the shims of this cluster's homes and all their descendants.
func (l layout) leftovers() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	var roots []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !alive(pid) {
			continue
		}
		children[parent(pid)] = append(children[parent(pid)], pid)
		if l.isShim(pid) {
			roots = append(roots, pid)
		}
	}
	for i := 0; i < len(roots); i++ {
		for _, c := range children[roots[i]] {
			if !slices.Contains(roots, c) {
				roots = append(roots, c)
			}
		}
	}
	return roots
}

// isShim reports whether a process is one that works on the files of a home of this
// cluster and is no daemon of it.
func (l layout) isShim(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || pid == os.Getpid() {
		return false
	}
	args := strings.Split(string(line), "\x00")
	return filepath.Base(args[0]) != "rampart" && slices.ContainsFunc(args[1:], func(a string) bool {
		return strings.HasPrefix(a, filepath.Join(l.dir, "homes")+"/") && strings.Contains(a, "/mom_priv/")
	})
}

func signal(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // gone already is what we want
	}
}

func gone(ctx context.Context, pids []int, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for slices.ContainsFunc(pids, alive) {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// alive reports whether a process runs; one that only waits for its parent does not.
func alive(pid int) bool {
	state, _, ok := stat(pid)
	return ok && state != "Z" && state != "X"
}

func parent(pid int) int {
	_, ppid, _ := stat(pid)
	return ppid
}

func stat(pid int) (state string, ppid int, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", 0, false
	}
	_, rest, ok := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 2 {
		return "", 0, false
	}
	ppid, err = strconv.Atoi(fields[1])
	return fields[0], ppid, err == nil
}
