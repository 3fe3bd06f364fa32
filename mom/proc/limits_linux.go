package proc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

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
	slices.SortStableFunc(limits, func(a, b Limit) int { return cmp.Compare(order(a), order(b)) })
	_, _ = syscall.SlicePtrFromStrings(os.Environ()) // so much memory there has to be once more, when there may be no more
	_, _ = syscall.SlicePtrFromStrings(args)
	runtime.GC()
	debug.SetGCPercent(-1)
	runtime.LockOSThread() // it has the nice value
	if nice > 0 {
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	}
	for _, l := range limits {
		err = errors.Join(err, l.take())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "PBS: limits: %v\n", err)
	}
	path := args[2]
	err = syscall.Exec(path, args[3:], os.Environ())
	fmt.Fprintf(os.Stderr, "PBS: %s: %v\n", path, err)
	if errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// order says when a limit is taken: that of the address space last, for what is left to do needs some of it.
func order(l Limit) int {
	if l.Resource == unix.RLIMIT_AS {
		return 1
	}
	return 0
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
