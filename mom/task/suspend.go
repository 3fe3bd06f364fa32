package task

import (
	"syscall"
	"time"
)

// halt notes that a signal suspends the job or lets it go on.
func (t Task) halt(ev Signal) Task {
	sig, _ := ParseSignal(ev.Name)
	switch suspends := isSuspension(ev.Name); {
	case suspends && sig == syscall.SIGSTOP && !t.Halted:
		t.Halted, t.HaltedAt = true, ev.Elapsed
	case suspends && sig == syscall.SIGCONT && t.Halted:
		t.Idle += max(0, ev.Elapsed-t.HaltedAt)
		t.Halted, t.HaltedAt = false, 0
	}
	return t
}

// isSuspension tells a suspension from a plain SIGSTOP, of which the servers know nothing.
func isSuspension(name string) bool {
	switch name {
	case "suspend", "resume", "admin-suspend", "admin-resume":
		return true
	}
	return false
}

// active returns how much of the time that a job has been there counts as its walltime.
func (t Task) active(elapsed time.Duration) time.Duration {
	if t.Halted {
		elapsed = min(elapsed, t.HaltedAt)
	}
	return max(0, elapsed-t.Idle)
}
