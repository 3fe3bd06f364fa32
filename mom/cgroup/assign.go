package cgroup

import (
	"slices"
	"strconv"
)

// A Want is what a run was given on this host.
type Want struct {
	Job   string
	Run   uint32
	Parts []Part
}

// A Part is what a run was given on one vnode of this host.
type Part struct {
	Vnode    string
	CPUs     int
	MemoryKB int64 // 0: none was asked for
	VmemKB   int64
	GPUs     int
}

// sum adds up the parts.
func (w Want) sum() Part {
	var all Part
	for _, p := range w.Parts {
		all.CPUs += p.CPUs
		all.MemoryKB += p.MemoryKB
		all.VmemKB += p.VmemKB
		all.GPUs += p.GPUs
	}
	return all
}

// An assignment is what a run has on this host. It is a file format.
type assignment struct {
	Job     string   `json:"job"`
	Run     uint32   `json:"run"`
	CPUs    []int    `json:"cpus,omitempty"`
	Shared  bool     `json:"shared,omitempty"` // with other jobs: the host offers more than it has
	Mems    []int    `json:"mems,omitempty"`
	GPUs    []string `json:"gpus,omitempty"`    // as CUDA_VISIBLE_DEVICES takes them
	Folders []string `json:"folders,omitempty"` // of its cgroup
	// Unbounded: the cgroup does not see to memory; Swap: it does so to memory and swap together, which is vmem.
	Unbounded bool `json:"unbounded,omitempty"`
	Swap      bool `json:"swap,omitempty"`
}

// nodeOf returns the NUMA node that a vnode HOST[N] stands for, -1 if it is no such vnode.
func nodeOf(vnode string) int {
	n := len(vnode)
	if n < 3 || vnode[n-1] != ']' {
		return -1
	}
	for i := n - 2; i > 0; i-- {
		if vnode[i] == '[' {
			id, err := strconv.Atoi(vnode[i+1 : n-1])
			if err != nil {
				return -1
			}
			return id
		}
	}
	return -1
}

// cpus chooses cpus for the parts from those that taken does not have. Where there are not
// enough, all cpus that the job may use are shared: a host that offers more than it has is to
// be oversubscribed. With perNode the parts of vnode HOST[N] are on NUMA node N.
func (h Host) cpus(parts []Part, taken, exclude []int, perNode bool) (chosen []int, shared bool) {
	free := func(n Node) []int {
		return slices.DeleteFunc(slices.Clone(n.CPUs), func(c int) bool {
			return slices.Contains(taken, c) || slices.Contains(exclude, c) || slices.Contains(chosen, c)
		})
	}
	for _, p := range parts {
		nodes := slices.Clone(h.Nodes)
		if id := nodeOf(p.Vnode); perNode && id >= 0 {
			nodes = slices.DeleteFunc(nodes, func(n Node) bool { return n.ID != id })
		}
		left := p.CPUs
		// A node that has room for the whole part comes first.
		slices.SortStableFunc(nodes, func(a, b Node) int { return fits(free(b), left) - fits(free(a), left) })
		for _, n := range nodes {
			some := free(n)
			some = some[:min(left, len(some))]
			chosen, left = append(chosen, some...), left-len(some)
		}
		if left > 0 {
			shared = true
			for _, n := range nodes {
				for _, c := range n.CPUs {
					if !slices.Contains(exclude, c) {
						chosen = append(chosen, c)
					}
				}
			}
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), shared
}

func fits(free []int, n int) int {
	if len(free) >= n {
		return 1
	}
	return 0
}

// keep returns the cpus that a job goes on with which has given some of its parts back: as
// many as it has left, of those that it had.
func (h Host) keep(had []int, parts []Part, perNode bool) []int {
	others := slices.DeleteFunc(h.all(), func(c int) bool { return slices.Contains(had, c) })
	kept, short := h.cpus(parts, others, nil, perNode)
	if short {
		return had
	}
	return kept
}

func (h Host) all() []int {
	var all []int
	for _, n := range h.Nodes {
		all = append(all, n.CPUs...)
	}
	return all
}

// mems returns the NUMA nodes of the cpus.
func (h Host) mems(cpus []int) []int {
	var ids []int
	for _, n := range h.Nodes {
		if slices.ContainsFunc(cpus, func(c int) bool { return slices.Contains(n.CPUs, c) }) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// gpus chooses GPUs that taken does not have, near the parts that want them. Of a host whose
// driver tells nothing they are numbers.
func (h Host) gpus(parts []Part, taken []string, perNode bool) []string {
	chosen := []string{}
	pick := func(id string) bool {
		if slices.Contains(taken, id) || slices.Contains(chosen, id) {
			return false
		}
		chosen = append(chosen, id)
		return true
	}
	for _, p := range parts {
		left := p.GPUs
		node := nodeOf(p.Vnode)
		for _, near := range []bool{true, false} {
			for _, g := range h.GPUs {
				if left > 0 && (!near || !perNode || node < 0 || g.Node == node) && pick(g.ID) {
					left--
				}
			}
		}
		for i := 0; left > 0 && len(h.GPUs) == 0; i++ {
			if pick(strconv.Itoa(i)) {
				left--
			}
		}
	}
	return chosen
}
