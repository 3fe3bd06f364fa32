package home

import (
	"fmt"
	"os"
	"path/filepath"

	"rampart/transport/own"
)

// The files whose first line is the pid of the daemon that runs, or that ran last
// (specification: drop-in section 1). The mom keeps its own, mom_priv/mom.lock.
func (h Home) ServerLock() string { return h.join("server_priv", "server.lock") }
func (h Home) CommLock() string   { return h.join("server_priv", "comm.lock") }
func (h Home) SchedLock() string  { return h.join("sched_priv", "sched.lock") }
func (h Home) MomLock() string    { return h.join("mom_priv", "mom.lock") }

// Lock makes this process the only daemon of its kind at the home until what is returned is
// closed, and writes the pid into the file. own.ErrRunning: there is another.
func Lock(path string) (*os.File, error) {
	if err := own.Folder(filepath.Dir(filepath.Dir(path)), 0o755); err != nil { // PBS_HOME
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return own.Lock(path, os.Getpid())
}
