package cgroup

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Usage is what all processes of a job have used on this host, those that are gone included.
type Usage struct {
	CPU    time.Duration
	Memory int64 // bytes: the most it has had
}

// Usage measures a run; a value that its cgroup does not measure is 0.
func (m *Manager) Usage(job string, run uint32) Usage {
	var u Usage
	for _, dir := range m.Room(job, run).Folders {
		number := func(file string) int64 {
			n, _ := strconv.ParseInt(strings.TrimSpace(read(filepath.Join(dir, file))), 10, 64)
			return n
		}
		u.CPU = max(u.CPU, time.Duration(number("cpuacct.usage")), cpuStat(read(filepath.Join(dir, "cpu.stat"))))
		u.Memory = max(u.Memory, number("memory.max_usage_in_bytes"), number("memory.peak"), number("memory.current"))
	}
	return u
}

// cpuStat finds usage_usec of v2.
func cpuStat(text string) time.Duration {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "usage_usec "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return time.Duration(n) * time.Microsecond
		}
	}
	return 0
}
