package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files of a cgroup by which its processes are reached.
const (
	cgroupProcs  = "cgroup.procs"
	cgroupTasks  = "tasks"         // v1: threads, of whichever process
	cgroupKill   = "cgroup.kill"   // v2, since Linux 5.14
	freezerState = "freezer.state" // of the v1 freezer
)

// errCgroup is why a program did not run: the host's fault, not the program's.
var errCgroup = errors.New("enter the job's cgroup")

// startIn starts a program whose process is born inside the cgroup with these folders, one
// for each hierarchy, so that nothing of it is ever outside.
func startIn(folders []string, path string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	var v1 []string
	for _, dir := range folders {
		unified, err := isUnified(dir)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errCgroup, err)
		}
		if !unified {
			v1 = append(v1, dir)
			continue
		}
		f, err := os.Open(dir)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errCgroup, err)
		}
		defer f.Close()
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(f.Fd())
	}
	if len(v1) == 0 {
		pid, _, err = syscall.StartProcess(path, args, attr)
		return pid, err
	}
	offMain(func() { pid, err = startFrom(v1, path, args, attr) })
	return pid, err
}

// startFrom moves the calling thread, which is to end soon: a child is born where the thread
// is that forks.
func startFrom(v1 []string, path string, args []string, attr *syscall.ProcAttr) (int, error) {
	for _, dir := range v1 {
		if err := os.WriteFile(filepath.Join(dir, cgroupTasks), []byte("0"), 0); err != nil {
			return 0, fmt.Errorf("%w: %w", errCgroup, err)
		}
	}
	pid, _, err := syscall.StartProcess(path, args, attr)
	return pid, err
}

// offMain calls f in a thread that ends with the call. The main thread cannot end, so it is
// kept busy while another one is taken.
func offMain(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			offMain(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// isUnified tells a folder of the v2 hierarchy from one of v1.
func isUnified(dir string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return st.Type == unix.CGROUP2_SUPER_MAGIC, nil
}

// CgroupProcesses returns the processes in the cgroup with these folders, one for each
// hierarchy, and below it. What is gone has none.
func CgroupProcesses(folders []string) ([]int, error) {
	seen := make(map[int]bool)
	var all []int
	for _, top := range folders {
		err := walkCgroup(top, func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, cgroupProcs))
			if err != nil {
				return err
			}
			for line := range strings.FieldsSeq(string(data)) {
				if pid, err := strconv.Atoi(line); err == nil && pid > 0 && !seen[pid] {
					seen[pid] = true
					all = append(all, pid)
				}
			}
			return nil
		})
		if err != nil {
			return all, fmt.Errorf("list processes of %s: %w", top, err)
		}
	}
	return all, nil
}

// KillCgroup kills once whatever is in the cgroup with these folders, and returns how many
// processes it found. A v1 freezer holds them still meanwhile, so that none can fork.
func KillCgroup(folders []string) (int, error) {
	var errs []error
	for _, dir := range folders {
		if thaw := freeze(dir); thaw != nil {
			defer thaw()
		}
	}
	found, err := CgroupProcesses(folders)
	errs = append(errs, err)
	self := os.Getpid()
	for _, pid := range found {
		if p, ok := readProcess(pid); ok && pid != self {
			if err := signalOne(p, syscall.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				errs = append(errs, fmt.Errorf("kill process %d: %w", pid, err))
			}
		}
	}
	for _, dir := range folders { // at once, what was forked meanwhile included
		_ = os.WriteFile(filepath.Join(dir, cgroupKill), []byte("1"), 0)
	}
	return len(found), errors.Join(errs...)
}

// freeze holds what is in a cgroup of the v1 freezer; nil: it is none.
func freeze(dir string) (thaw func()) {
	file := filepath.Join(dir, freezerState)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	if _, err = f.WriteString("FROZEN"); errors.Join(err, f.Close()) != nil {
		return nil
	}
	return func() { _ = os.WriteFile(file, []byte("THAWED"), 0) }
}

// walkCgroup visits a cgroup and those below it, the deepest first. One that vanishes
// meanwhile is passed over.
func walkCgroup(dir string, visit func(dir string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unlessGone(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := walkCgroup(filepath.Join(dir, e.Name()), visit); err != nil {
			return err
		}
	}
	return unlessGone(visit(dir))
}

// unlessGone drops the errors of a cgroup that was removed: ENODEV is what reading an open
// file of it gives.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// RemoveCgroup removes the cgroup with these folders, and what was made below it. EBUSY in
// the chain says that processes are left.
func RemoveCgroup(folders []string) error {
	var errs []error
	for _, top := range folders {
		errs = append(errs, walkCgroup(top, unix.Rmdir))
	}
	return errors.Join(errs...)
}

// EnterCgroup moves a process with all its threads.
func EnterCgroup(folders []string, pid int) error {
	for _, dir := range folders {
		if err := os.WriteFile(filepath.Join(dir, cgroupProcs), []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("move process %d: %w", pid, err)
		}
	}
	return nil
}
