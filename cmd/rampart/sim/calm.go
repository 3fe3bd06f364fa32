package sim

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// calm is how late the system may wake a thread that sleeps for a time (PR_SET_TIMERSLACK). The monitor of Go's runtime is one. It takes
// the processor from goroutines that have run, or been in a system call, for long by the real clock, which on a busy machine passes while
// the process waits; then another goroutine comes first. With this slack it looks about once in this time; a wait for a program, which
// it has to notice, takes that much longer.
const calm = 50 * time.Millisecond

// promptly is the slack that the system gives a thread otherwise.
const promptly = 50 * time.Microsecond

// Calm has a program begin anew, once, in the same process with its threads calm, so that the plays of a seed are the same on a
// busy machine, too. It must be called before anything is begun, and returns when it is the new beginning, or with the
// reason why it cannot be.
func Calm() error {
	runtime.LockOSThread() // what this one executes has its slack, and so has each thread of that
	defer runtime.UnlockOSThread()
	now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil && time.Duration(now) == calm {
		return nil
	}
	if err := setSlack(calm); err != nil {
		return err
	}
	err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	return fmt.Errorf("begin anew with a timer slack of %s: %w", calm, err)
}

// setSlack sets the slack of the thread that calls.
func setSlack(slack time.Duration) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack to %s: %w", slack, err)
	}
	return nil
}

// prompt has the goroutine keep a thread to itself that wakes in time, for programs that it starts inherit that.
func prompt() {
	runtime.LockOSThread()
	_ = setSlack(promptly) // without it their sleeps are late, and all else is the same
}
