package sched

import (
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A set is what a PBS's scheduler tells jobs apart by: those of one set start, or wait, for the same reasons.
type set struct {
	queue                pbs.QueueName // where it matters in which queue a job is
	user, group, project string        // where limits go by them
	request, place, asks string
}

// bySubject tells which sets jobs are put in, by what limits go by.
type bySubject struct {
	user, group, project bool
	queues               map[pbs.QueueName]bool // in which jobs are apart from those of others
}

// countSets returns how many sets of jobs there are: those that wait to start, and those that run. It looks at all jobs.
func countSets(v *state.View, h *hours, considered considered) int {
	by := bySubject{queues: map[pbs.QueueName]bool{}}
	by.read(v.Server().Attrs)
	for q := range v.Queues() {
		limited := by.read(q.Attrs)
		by.queues[q.Name] = limited || h.ofOne(q.Name) || q.Reservation != ""
	}
	sets := map[set]bool{}
	for of := range v.Classes() {
		for j := range v.JobsOf(of) {
			sets[by.of(v, j, considered)] = true
		}
	}
	for j := range v.Running() {
		sets[by.of(v, j, considered)] = true
	}
	return len(sets)
}

// read notes by what the limits go that a server or queue has for jobs that run, and reports whether it has any.
func (by *bySubject) read(list attr.List) (limited bool) {
	for _, e := range list {
		if !strings.HasPrefix(e.Name, "max_run") && !strings.HasPrefix(e.Name, "max_user_r") && !strings.HasPrefix(e.Name, "max_group_r") && e.Name != "resources_available" {
			continue
		}
		limited = true
		by.user = by.user || strings.Contains(e.Value, "u:") || strings.HasPrefix(e.Name, "max_user")
		by.group = by.group || strings.Contains(e.Value, "g:") || strings.HasPrefix(e.Name, "max_group")
		by.project = by.project || strings.Contains(e.Value, "p:")
	}
	return limited
}

func (by *bySubject) of(v *state.View, j *state.Job, considered considered) set {
	s := set{request: j.SchedSelect}
	if j.Suspended() {
		s.request = j.Run.ExecVnode.String() // it goes on there, and nowhere else
	}
	s.place, _ = j.Resources.Get("place")
	if by.queues[j.Queue] {
		s.queue = j.Queue
	}
	who := j.Subjects()
	if by.user {
		s.user = who[1].Name
	}
	if by.group {
		s.group = who[2].Name
	}
	if by.project {
		s.project = who[3].Name
	}
	var asks []string
	for _, it := range j.Resources {
		if def, ok := v.Resource(it.Name); ok && tellsApart(def, considered) {
			asks = append(asks, it.Name+"="+it.Value)
		}
	}
	s.asks = strings.Join(asks, ",")
	return s
}

// tellsApart reports whether jobs that ask for different amounts of a resource are in different sets.
func tellsApart(def resource.Def, considered considered) bool {
	switch def.Name {
	case "select", "place", "nodect":
		return false
	}
	return considered.has(def) || slices.Contains([]string{"cput", "walltime", "min_walltime", "max_walltime", "preempt_targets"}, def.Name)
}

// logSets says how many sets of jobs there are. It costs as much as there are jobs, for who has asked for all messages.
func (l *Loop) logSets(v *state.View) {
	if l.mask.Load()&uint32(pbs.LogDebug3) == 0 {
		return
	}
	p := l.planner
	if n := countSets(v, p.hours, p.considered); n > 0 {
		l.log(pbs.LogDebug3, "Sched", "", fmt.Sprintf("Number of job equivalence classes: %d", n))
	}
}
