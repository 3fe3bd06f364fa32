package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/mom/proc"
)

// A Usage is what all processes of a job have used on this host, those that are gone included.
type Usage struct {
	CPU    time.Duration
	Memory int64 // bytes: the most it has had
	// Virtual is the bytes of address space of the processes that it has now.
	Virtual int64
}

// Usage measures a run; a value that its cgroup does not measure is 0.
func (m *Manager) Usage(job string, run uint32) Usage {
	var u Usage
	folders := m.Room(job, run).Folders
	u.Virtual = m.virtual(folders)
	for _, dir := range folders {
		number := func(file string) int64 {
			n, _ := strconv.ParseInt(strings.TrimSpace(read(filepath.Join(dir, file))), 10, 64)
			return n
		}
		u.CPU = max(u.CPU, time.Duration(number("cpuacct.usage")), time.Duration(counter(dir, "cpu.stat", "usage_usec"))*time.Microsecond)
		u.Memory = max(u.Memory, number("memory.max_usage_in_bytes"), number("memory.peak"), number("memory.current"))
	}
	return u
}

// virtual adds up the address space of the processes of a cgroup; one that has gone meanwhile has none.
func (m *Manager) virtual(folders []string) (bytes int64) {
	pids, err := proc.CgroupProcesses(folders)
	if err != nil {
		return 0 // those of the job's sessions are known otherwise
	}
	for _, pid := range pids {
		pages, _, _ := strings.Cut(read(filepath.Join(m.options.Root, "proc", strconv.Itoa(pid), "statm")), " ")
		n, _ := strconv.ParseInt(pages, 10, 64)
		bytes += n * int64(os.Getpagesize())
	}
	return bytes
}

// Exhausted reports whether the kernel has killed a process of a run that wanted more memory than the run was given.
func (m *Manager) Exhausted(job string, run uint32) bool {
	return slices.ContainsFunc(m.Room(job, run).Folders, func(dir string) bool {
		return counter(dir, "memory.events", "oom_kill")+counter(dir, "memory.oom_control", "oom_kill") > 0 // v2, v1
	})
}

// counter finds a number by its name in a file of a cgroup; 0 where there is none.
func counter(dir, file, name string) (n int64) {
	for line := range strings.Lines(read(filepath.Join(dir, file))) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ = strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return n
}
