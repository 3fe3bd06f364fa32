package mom

import (
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rampart/mom/proc"
)

// Probe returns what this host has, for Config.Probe.
func Probe() Hardware {
	hw := Hardware{CPUs: runtime.NumCPU(), Arch: strings.ToLower(runtime.GOOS)}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		hw.MemoryKB = int64(uint64(info.Totalram) * uint64(info.Unit) / 1024)
	}
	return hw
}

// FileFence is a Fence that the shims read from a file.
type FileFence string

var _ Fence = FileFence("")

// Now implements Fence.
func (f FileFence) Now() time.Duration { return proc.SinceBoot() }

// Move implements Fence.
func (f FileFence) Move(deadline time.Duration) error { return proc.WriteDeadline(string(f), deadline) }

// Path implements Fence.
func (f FileFence) Path() string { return string(f) }
