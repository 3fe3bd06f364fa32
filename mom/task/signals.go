package task

import (
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"rampart/fsm/pbs"
)

// ParseSignal reads a signal as qsig takes it: a name with or without SIG, or a number.
// Others are refused with BadSignal.
func ParseSignal(name string) (syscall.Signal, error) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n > 64 {
			return 0, pbs.Refuse(pbs.BadSignal)
		}
		return syscall.Signal(n), nil
	}
	switch name {
	case "suspend", "admin-suspend":
		return syscall.SIGSTOP, nil
	case "resume", "admin-resume":
		return syscall.SIGCONT, nil
	case "NULL", "SIGNULL":
		return 0, nil
	}
	word := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	if sig, ok := otherNames[word]; ok {
		return sig, nil
	}
	sig := unix.SignalNum("SIG" + word)
	if sig == 0 {
		return 0, pbs.Refuse(pbs.BadSignal)
	}
	return sig, nil
}

// otherNames are the second names of signals in signal(7).
var otherNames = map[string]syscall.Signal{"IOT": syscall.SIGABRT, "CLD": syscall.SIGCHLD, "POLL": syscall.SIGIO}
