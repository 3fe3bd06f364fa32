package lsf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/lsf"
)

// sums are what bjobs tells of many jobs at once: -A of arrays, -sum of all.
type sums struct {
	arrays []*arraySum    // in the order in which they came
	slots  map[string]int // by state
}

// An arraySum counts the jobs of an array by their states.
type arraySum struct {
	id, spec, user string
	jobs           int
	states         map[string]int
}

// of returns the array that a job is, or belongs to.
func (s *sums) of(j job) *arraySum {
	id, _, _ := strings.Cut(j.id, "[")
	k := slices.IndexFunc(s.arrays, func(a *arraySum) bool { return a.id == id })
	if k < 0 {
		k = len(s.arrays)
		s.arrays = append(s.arrays, &arraySum{id: id, user: j.user, states: map[string]int{}})
	}
	return s.arrays[k]
}

// add counts a job, and reports whether it is one that is to be counted: with -A one of an array.
func (s *sums) add(j job, arrays bool) bool {
	if arrays {
		if !strings.Contains(j.id, "[") {
			return false
		}
		a := s.of(j)
		a.jobs, a.states[j.state] = a.jobs+1, a.states[j.state]+1
		return true
	}
	n := 0
	for _, share := range j.shares() {
		n += share.slots
	}
	s.slots[j.state] += cmp.Or(n, j.slots())
	return true
}

// writeSums prints what was counted.
func (v *jobsView) writeSums() {
	if !v.arrays {
		n := v.sums.slots
		const row = "%-12v %-12v %-12v %-12v %-12v %v\n"
		if v.header {
			fmt.Fprintf(v.out, row, "RUN", "SSUSP", "USUSP", "UNKNOWN", "PEND", "FWD_PEND")
		}
		fmt.Fprintf(v.out, row, n[lsf.Running], n[lsf.SysSuspended], n[lsf.UserSuspended], 0, n[lsf.Pending]+n[lsf.HeldPending], 0)
		return
	}
	const row = "%-7v %-14v %-8v %6v %5v %5v %5v %5v %5v %5v %5v\n"
	first := true
	for _, a := range v.sums.arrays {
		if a.jobs == 0 {
			continue
		}
		if first && v.header {
			fmt.Fprintf(v.out, row, "JOBID", "ARRAY_SPEC", "OWNER", "NJOBS", "PEND", "DONE", "RUN", "EXIT", "SSUSP", "USUSP", "PSUSP")
		}
		first = false
		n, spec, user := a.states, a.spec, a.user
		if !v.wide {
			spec, user = tail(spec, 14), fmt.Sprintf("%.8s", user)
		}
		fmt.Fprintf(v.out, row, a.id, spec, user, a.jobs,
			n[lsf.Pending], n[lsf.Done], n[lsf.Running], n[lsf.Exited], n[lsf.SysSuspended], n[lsf.UserSuspended], n[lsf.HeldPending])
	}
}

// reasonAlone returns a pending reason without the hosts that it is of.
func reasonAlone(reason string) string {
	text, _, _ := strings.Cut(strings.TrimSuffix(reason, ";"), ": ")
	return text
}

// writeCauses prints for how many jobs there is which reason to wait: -psum.
func (v *jobsView) writeCauses() {
	if v.count == 0 {
		return
	}
	fmt.Fprintf(v.out, "Pending reason summary: published %s\nSummarizing %d pending jobs:\n", v.env.Now().In(v.env.Zone).Format(historyTime), v.count)
	reasons := slices.SortedFunc(maps.Keys(v.causes), func(a, b string) int {
		return cmp.Or(v.causes[b]-v.causes[a], strings.Compare(a, b))
	})
	for _, reason := range reasons {
		fmt.Fprintf(v.out, "    %s: %d\n", reason, v.causes[reason])
	}
}
