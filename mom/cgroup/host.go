package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Host is what a machine has to be shared out among jobs.
type Host struct {
	Nodes []Node // NUMA nodes, by number; one if the kernel tells of none
	GPUs  []GPU  // by number
}

// A Node is a NUMA node.
type Node struct {
	ID       int
	CPUs     []int
	MemoryKB int64
	GPUs     int
}

// A GPU is one that the driver of NVIDIA tells of.
type GPU struct {
	Minor int    // of its device file
	ID    string // as CUDA_VISIBLE_DEVICES takes it
	Node  int    // NUMA node, -1 if it is not known
}

// Discover looks at the machine. root is "/", or a tree for tests.
func Discover(root string) Host {
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	h := Host{GPUs: gpus(at)}
	folders, _ := filepath.Glob(at("sys/devices/system/node/node[0-9]*"))
	for _, dir := range folders {
		id, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		cpus := parseList(read(filepath.Join(dir, "cpulist")))
		if err == nil && len(cpus) > 0 { // a node may have memory only, or nothing that is online
			h.Nodes = append(h.Nodes, Node{ID: id, CPUs: cpus, MemoryKB: memTotal(read(filepath.Join(dir, "meminfo")))})
		}
	}
	if len(h.Nodes) == 0 {
		h.Nodes = []Node{{CPUs: parseList(read(at("sys/devices/system/cpu/online")))}}
	}
	slices.SortFunc(h.Nodes, func(a, b Node) int { return a.ID - b.ID })
	if len(h.Nodes) == 1 {
		h.Nodes[0].MemoryKB = memTotal(read(at("proc/meminfo")))
	}
	for i := range h.Nodes {
		for _, g := range h.GPUs {
			if g.Node == h.Nodes[i].ID || g.Node < 0 && i == 0 {
				h.Nodes[i].GPUs++
			}
		}
	}
	return h
}

// gpus reads what the driver says; without its word the device files count.
func gpus(at func(...string) string) []GPU {
	files, _ := filepath.Glob(at("dev/nvidia[0-9]*"))
	var all []GPU
	for _, f := range files {
		minor, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(f), "nvidia"))
		if err == nil {
			all = append(all, GPU{Minor: minor, ID: strconv.Itoa(minor), Node: -1})
		}
	}
	slices.SortFunc(all, func(a, b GPU) int { return a.Minor - b.Minor })
	infos, _ := filepath.Glob(at("proc/driver/nvidia/gpus/*/information"))
	for _, path := range infos {
		fields := map[string]string{}
		for line := range strings.Lines(read(path)) {
			if name, value, ok := strings.Cut(line, ":"); ok {
				fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
		minor, err := strconv.Atoi(fields["Device Minor"])
		i := slices.IndexFunc(all, func(g GPU) bool { return g.Minor == minor })
		if err != nil || i < 0 {
			continue
		}
		if uuid := fields["GPU UUID"]; strings.HasPrefix(uuid, "GPU-") && !strings.Contains(uuid, "?") {
			all[i].ID = uuid
		}
		slot := filepath.Base(filepath.Dir(path))
		if node, err := strconv.Atoi(strings.TrimSpace(read(at("sys/bus/pci/devices", slot, "numa_node")))); err == nil {
			all[i].Node = node
		}
	}
	return all
}

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// memTotal finds the kilobytes of MemTotal in /proc/meminfo or a node's.
func memTotal(text string) int64 {
	for line := range strings.Lines(text) {
		_, rest, ok := strings.Cut(line, "MemTotal:")
		if f := strings.Fields(rest); ok && len(f) > 0 {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			return max(n, 0)
		}
	}
	return 0
}

// parseList reads the kernel's form of a set, "0-3,8"; what is malformed is passed over.
func parseList(text string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b-a > 1<<16 {
			continue
		}
		for i := a; i <= b; i++ {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// formatList writes what parseList reads; the list is sorted.
func formatList(list []int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, list[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", list[j])
		}
		i = j + 1
	}
	return b.String()
}
