package mom

import (
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
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
