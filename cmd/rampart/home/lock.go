package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrRunning is the refusal of a second daemon of a kind at one home.
var ErrRunning = errors.New("another one is running")

// The lock files of the daemons, whose first line is the pid of the one that runs, or that
// ran last (specification: drop-in section 1). The mom keeps its own, mom_priv/mom.lock.
func (h Home) ServerLock() string { return h.join("server_priv", "server.lock") }
func (h Home) CommLock() string   { return h.join("server_priv", "comm.lock") }
func (h Home) SchedLock() string  { return h.join("sched_priv", "sched.lock") }
func (h Home) MomLock() string    { return h.join("mom_priv", "mom.lock") }

// Lock makes this process the only one that holds the file until it is closed, and writes
// the pid into it. The folder is made if it is missing. ErrRunning: somebody holds it.
func Lock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrRunning
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
