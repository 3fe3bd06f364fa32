package devrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// stopsWithin is how long a process that was told to stop may take.
const stopsWithin = 10 * time.Second

// awaitStop waits until no thread of a process goes on: the thread that takes SIGSTOP stops the others, and on a busy machine these answer
// requests until it has had a processor.
func awaitStop(pid int) error {
	for begun := time.Now(); !stopped(pid); time.Sleep(time.Millisecond) {
		if time.Since(begun) > stopsWithin {
			return fmt.Errorf("process %d has not stopped within %s", pid, stopsWithin)
		}
	}
	return nil
}

// stopped reports whether all threads of a process stand, or it is gone.
func stopped(pid int) bool {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return true
	}
	for _, thread := range threads {
		if stat, err := thread.Stat(); err == nil && !strings.Contains("TtZX", stat.State) {
			return false
		}
	}
	return true
}
