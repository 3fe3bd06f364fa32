package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// limitFlag has a process take limits on itself and become a program. So all that the program starts has them, from its first
// moment on, and nobody needs a capability for it.
const limitFlag = "--limit"

// itself is the program that runs, whatever has become of its file.
const itself = "/proc/self/exe"

// limited returns how a program is started under the limits of the spec.
func (s *Spec) limited() (path string, args []string) {
	if len(s.Limits) == 0 && s.Nice <= 0 {
		return s.Path, s.Args
	}
	limits, _ := json.Marshal(s.Limits) // numbers: it cannot fail
	return itself, append([]string{ShimName, limitFlag, string(limits), strconv.Itoa(s.Nice), s.Path}, s.Args...)
}

// become is the process that takes limits: args are those, the nice value, and the path and arguments of the program. It returns if
// the program does not run, as a shell does.
func become(args []string) int {
	var limits []Limit
	if len(args) < 4 {
		fmt.Fprintf(os.Stderr, "PBS: limits: no program to run with them\n")
		return 2
	}
	nice, err := strconv.Atoi(args[1])
	if err := errors.Join(err, json.Unmarshal([]byte(args[0]), &limits)); err != nil {
		fmt.Fprintf(os.Stderr, "PBS: limits: %v\n", err)
		return 2
	}
	path := args[2]
	runtime.LockOSThread() // it has the nice value
	if nice > 0 {
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	}
	var space *Limit
	for i := range limits {
		if limits[i].Resource == unix.RLIMIT_AS {
			space = &limits[i]
			continue
		}
		err = errors.Join(err, limits[i].take())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "PBS: limits: %v\n", err)
	}
	if space == nil {
		err = syscall.Exec(path, args[3:], os.Environ())
	} else {
		err = space.execWithin(path, args[3:], os.Environ())
	}
	fmt.Fprintf(os.Stderr, "PBS: %s: %v\n", path, err)
	if errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// execTries bounds how often execve is called again that fails at the moment because a thread of the runtime is just being made.
const execTries = 100

// execWithin becomes a program with the limit, which is that of the address space. This process may have more already: once it has
// taken the limit it can allocate nothing, so that all that the call needs is made before.
func (l Limit) execWithin(path string, args, env []string) error {
	argv0, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	envv, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	_ = syscall.Exec("", args, nil) // there is no such file: it gives back the limit on open files, which package os has raised
	debug.SetGCPercent(-1)
	if err := l.take(); err != nil {
		fmt.Fprintf(os.Stderr, "PBS: limits: %v\n", err)
	}
	var errno syscall.Errno
	for range execTries {
		_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(argv0)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
		if errno != unix.EAGAIN {
			break
		}
	}
	return errno
}

// becoming reports whether a process is about to become a program under limits. A process that has lived for a while is not looked at.
func becoming(p process) bool {
	const atMost = 10 * time.Second
	if boottime()-time.Duration(p.start)*tick > atMost {
		return false
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
	return err == nil && strings.HasPrefix(string(line), ShimName+"\x00"+limitFlag+"\x00")
}

// take sets the limit, or leaves a lower one that the process has already.
func (l Limit) take() error {
	var was unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &was); err != nil {
		return fmt.Errorf("limit %d: %w", l.Resource, err)
	}
	most := min(l.Value, was.Max)
	if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("limit %d to %d: %w", l.Resource, most, err)
	}
	return nil
}
