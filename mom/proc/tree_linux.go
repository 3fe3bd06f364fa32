package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc: USER_HZ, which is 100 on every Linux that
// runs Go.
const tick = 10 * time.Millisecond

// A process is one line of /proc/PID/stat.
type process struct {
	pid, ppid, session int
	zombie             bool
	start              uint64        // ticks since the boot
	cpu                time.Duration // its own
	reaped             time.Duration // of the children it waited for
	vsize, rss         int64         // bytes
}

// table is all processes of the host at about one moment, by pid.
type table map[int]process

func readTable() (table, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	t := make(table, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			t[pid] = p
		}
	}
	return t, nil
}

// readProcess reads /proc/PID/stat; ok is false for a process that is gone.
func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, string(data))
}

func parseStat(pid int, line string) (process, bool) {
	// The command's name stands in parentheses and may itself hold blanks and parentheses.
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return process{}, false
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 22 {
		return process{}, false
	}
	n := func(i int) int64 { // i as in proc_pid_stat(5)
		v, _ := strconv.ParseInt(f[i-3], 10, 64)
		return v
	}
	return process{
		pid: pid, zombie: f[0] == "Z" || f[0] == "X", ppid: int(n(4)), session: int(n(6)),
		cpu:    time.Duration(n(14)+n(15)) * tick,
		reaped: time.Duration(n(16)+n(17)) * tick,
		start:  uint64(n(22)), vsize: n(23), rss: n(24) * int64(os.Getpagesize()),
	}, true
}

// job returns the processes of a job, without its shim.
func (t table) job(h Handle) []process {
	var found []process
	seen := map[int]bool{h.PID: true, os.Getpid(): true}
	var grow func(in func(p process) bool)
	children := t.children()
	grow = func(in func(p process) bool) {
		for pid, p := range t {
			if !seen[pid] && in(p) {
				found = append(found, p)
				seen[pid] = true
			}
		}
	}
	if shim, ok := t[h.PID]; ok && shim.start == h.Start {
		for _, pid := range children[h.PID] {
			seen[pid] = true
			found = append(found, t[pid])
		}
	} else {
		grow(func(p process) bool { return hasCookie(p.pid, h.Cookie) })
	}
	if h.Session > 0 {
		grow(func(p process) bool { return p.session == h.Session && p.start >= h.Start })
	}
	for i := 0; i < len(found); i++ { // found grows while we walk: everything below
		for _, pid := range children[found[i].pid] {
			if !seen[pid] {
				seen[pid] = true
				found = append(found, t[pid])
			}
		}
	}
	return found
}

func (t table) children() map[int][]int {
	c := make(map[int][]int, len(t))
	for pid, p := range t {
		c[p.ppid] = append(c[p.ppid], pid)
	}
	return c
}

// hasCookie finds what a killed shim left behind outside of the session.
func hasCookie(pid int, cookie string) bool {
	if cookie == "" {
		return false
	}
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(env, []byte("PBS_JOBCOOKIE="+cookie))
}

// signalAll sends sig to the processes that are still those that were seen.
func signalAll(processes []process, sig syscall.Signal) error {
	var errs []error
	for _, p := range processes {
		if p.zombie {
			continue
		}
		if err := signalOne(p, sig); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, fmt.Errorf("signal process %d: %w", p.pid, err))
		}
	}
	return errors.Join(errs...)
}

func signalOne(p process, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ENOSYS) {
		return unix.Kill(p.pid, sig)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The pid may have a new bearer since the table was read; the descriptor cannot.
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		return nil
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// boottime returns the time since the boot, suspension included.
func boottime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
