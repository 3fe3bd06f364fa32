package trace

import (
	"fmt"
	"strconv"

	"rampart/fsm/state"
)

// A shape is what the hosts of a cluster are like: jobs of which only the number of processors is known are cut into chunks by it.
type shape struct {
	cpus    int64 // of the vnodes of which there are most
	largest int64 // of any vnode
	total   int64
	memory  bool // vnodes offer mem
	vnodes  int
}

func shapeOf(v *state.View) shape {
	s := shape{}
	count := map[int64]int{}
	for vn := range v.Vnodes() {
		text, _ := vn.Available().Get("ncpus")
		n, _ := strconv.ParseInt(text, 10, 64)
		if _, ok := vn.Available().Get("mem"); ok {
			s.memory = true
		}
		if n <= 0 {
			continue
		}
		count[n]++
		s.vnodes, s.total, s.largest = s.vnodes+1, s.total+n, max(s.largest, n)
		if count[n] > count[s.cpus] || count[n] == count[s.cpus] && n > s.cpus {
			s.cpus = n
		}
	}
	return s
}

// request is select and place of a job: its own, or else its processors on as few vnodes of the usual size as they need.
func (s shape) request(j *Job) (sel, place string) {
	if j.Select != "" {
		place, _ := j.Others.Get("place")
		return j.Select, place
	}
	size := max(1, s.cpus)
	if j.CPUs <= size || j.CPUs <= s.largest {
		return s.chunks(1, j.CPUs, j.Mem), "free"
	}
	sel = s.chunks(j.CPUs/size, size, j.Mem)
	if rest := j.CPUs % size; rest > 0 {
		sel += "+" + s.chunks(1, rest, j.Mem)
	}
	return sel, "free"
}

func (s shape) chunks(n, cpus, mem int64) string {
	text := fmt.Sprintf("%d:ncpus=%d", n, cpus)
	if mem > 0 && s.memory {
		text += fmt.Sprintf(":mem=%dkb", mem*cpus)
	}
	return text
}

// hostName returns the name of the nth of some hosts.
func hostName(n, of int) string {
	return fmt.Sprintf("node%0*d", len(strconv.Itoa(of)), n)
}
