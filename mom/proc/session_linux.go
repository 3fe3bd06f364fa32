package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// SessionOf returns a handle of the session that a process is in, which has no shim, and the
// uid that its leader runs under: without one, that of the process. The mom's own session and
// those of the kernel are refused.
func SessionOf(pid int) (Handle, uint32, error) {
	p, ok := readProcess(pid)
	if !ok || p.zombie {
		return Handle{}, 0, fmt.Errorf("there is no process %d", pid)
	}
	if self, known := readProcess(os.Getpid()); !known || p.session <= 1 || p.session == self.session {
		return Handle{}, 0, fmt.Errorf("the session of process %d cannot be a job's", pid)
	}
	boot, err := bootID()
	if err != nil {
		return Handle{}, 0, errors.Join(err)
	}
	start := p.start
	if leader, ok := readProcess(p.session); ok && leader.session == p.session {
		pid, start = leader.pid, min(start, leader.start)
	}
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return Handle{}, 0, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Handle{}, 0, fmt.Errorf("the owner of process %d is not known", pid)
	}
	return Handle{Start: start, BootID: boot, Session: p.session}, owner.Uid, nil
}

// SessionMembers returns the processes of the session that a process is in.
func SessionMembers(pid int) []int {
	t, err := readTable()
	p, ok := t[pid]
	if err != nil || !ok {
		return []int{pid}
	}
	var all []int
	for _, o := range t {
		if o.session == p.session {
			all = append(all, o.pid)
		}
	}
	return all
}
