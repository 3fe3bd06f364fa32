package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Stranger is a process of somebody who should have none.
type Stranger struct {
	PID     int
	UID     uint32
	Command string // its name, as the kernel has it
}

// Strangers returns the processes of the accounts that may not have any.
func Strangers(may func(uid uint32) bool) []Stranger {
	t, err := readTable()
	if err != nil {
		return nil
	}
	var all []Stranger
	for pid, p := range t {
		if uid, ok := userOf(pid); ok && !p.zombie && !may(uid) {
			name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
			all = append(all, Stranger{pid, uid, strings.TrimSpace(string(name))})
		}
	}
	return all
}

// End kills the process, and reports whether it was there. A descriptor holds the process while its user is checked again, since its pid may
// have been reused.
func (s Stranger) End() bool {
	fd, err := unix.PidfdOpen(s.PID, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	uid, ok := userOf(s.PID)
	return ok && uid == s.UID && unix.PidfdSendSignal(fd, syscall.SIGKILL, nil, 0) == nil
}

func userOf(pid int) (uint32, bool) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, false
	}
	return realUser(string(status))
}

// realUser reads the account that has started a process from its status. A program that works as another one, as su does, is its
// caller's.
func realUser(status string) (uint32, bool) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "Uid:"); ok {
			f := strings.Fields(rest)
			if len(f) != 4 {
				return 0, false
			}
			uid, err := strconv.ParseUint(f[0], 10, 32)
			return uint32(uid), err == nil
		}
	}
	return 0, false
}
