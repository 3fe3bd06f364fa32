package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"

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
		return 2
	}
	nice, err := strconv.Atoi(args[1])
	if err := errors.Join(err, json.Unmarshal([]byte(args[0]), &limits)); err != nil {
		fmt.Fprintf(os.Stderr, "PBS: limits: %v\n", err)
		return 2
	}
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
