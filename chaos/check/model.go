package check

import (
	"strings"

	"github.com/anishathalye/porcupine"

	"rampart/fsm/pbs"
)

// phase is what one server would know of a job.
type phase uint8

const (
	absent phase = iota
	live         // it may start and end by itself at any time
	pinned       // it waits under a hold, and can only be released or deleted
	dying        // deleted while it ran
	over
)

// job is one job at one server, as a pure value. It starts, is queued again and ends
// by itself; an observation that says so moves it on.
type job struct {
	phase    phase
	held     bool // by its user
	once     bool // it must not run again
	array    bool // subjobs run on when it is held or deleted
	priority string
	run      uint32 // it had at least so many
}

func jobModel(name string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return job{} },
		Step: func(state, _, output any) (bool, any) {
			return step(state.(job), output.(Op), name)
		},
		DescribeOperation: func(_, output any) string { return output.(Op).String() },
	}
}

func step(j job, o Op, name string) (bool, job) {
	switch {
	case o.Kind == Submit:
		return submitted(j, o)
	case o.Kind.reads():
		return stepSeen(j, o.Seen[name])
	case o.Result == Refused:
		return stepRefused(j, o)
	case j.phase == absent || j.phase == over || j.phase == dying && o.Kind != Delete && !j.array:
		// An outcome that nobody knows may be that nothing was changed.
		legal := o.Result == Unknown || j.phase == dying && (o.Kind == Hold || o.Kind == Release)
		return legal, marked(j, o.Kind)
	}
	return changed(j, o)
}

func submitted(j job, o Op) (bool, job) {
	if o.Result == Refused {
		return j.phase == absent, j
	}
	next := job{phase: live, held: o.Held, once: o.Once, array: o.Array, priority: o.Value}
	if o.Held && !o.Array {
		next.phase = pinned
	}
	return j.phase == absent, next
}

// marked returns a job that ends, with the holds that it may still get.
func marked(j job, k Kind) job {
	if j.phase == dying && (k == Hold || k == Release) {
		j.held = k == Hold
	}
	return j
}

// changed is a change of a job that has not ended.
func changed(j job, o Op) (bool, job) {
	switch o.Kind {
	case Delete:
		if j.phase == pinned {
			j.phase = over
		} else {
			j.phase = dying
		}
	case Hold:
		j.held = true
	case Release:
		j.held = false
		if j.phase == pinned {
			j.phase = live
		}
	case Alter: // of a live one: it did not run
		j.priority = o.Value
	case Rerun: // it ran
		return j.phase == live && !j.once || o.Result == Unknown, j
	default:
		return false, j
	}
	return true, j
}

// stepRefused judges a refusal: what it says must be so.
func stepRefused(j job, o Op) (bool, job) {
	switch o.Code {
	case pbs.HasFinished:
		legal := j.phase != absent && j.phase != pinned
		j.phase = over
		return legal, j
	case pbs.RunningAttribute:
		return o.Kind == Alter && (j.phase == live || j.phase == dying), j
	case pbs.NotRerunnable:
		return o.Kind == Rerun && j.once && j.phase != absent, j
	case pbs.BadState:
		return o.Kind == Rerun && j.phase != absent && j.phase != over, j
	default:
		return false, j
	}
}

// stepSeen judges what a look shows; the zero Seen is a job that is not there.
func stepSeen(j job, s Seen) (bool, job) {
	if s.State == "" {
		return j.phase == absent, j
	}
	if j.phase == absent || s.Priority != j.priority || s.Run < j.run || j.phase == pinned && s.Run != j.run {
		return false, j
	}
	j.run = s.Run
	held := strings.Contains(s.Holds, "u")
	if s.State == "F" {
		legal := j.phase != pinned
		j.phase = over
		return legal, j
	}
	if held != j.held {
		return false, j
	}
	switch s.State {
	case "E":
		return s.Run > 0 && (j.phase == live || j.phase == dying), j
	case "R", "S": // a suspension takes effect when the mom has confirmed it
		return s.Run > 0 && j.phase == live, j
	case "B":
		return s.Holds == "n" && j.array && (j.phase == live || j.phase == dying), j
	case "Q":
		return s.Holds == "n" && j.phase == live, j
	case "H":
		legal := s.Holds != "n" && (j.phase == live || j.phase == pinned || j.array && j.phase == dying)
		if held && !j.array {
			j.phase = pinned
		}
		return legal, j
	default:
		return false, j
	}
}

// queueModel is an attribute of a queue that is True or False: what was set is seen,
// and a queue takes jobs exactly while it is enabled.
func queueModel(queue, attr string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return true },
		Step: func(state, _, output any) (bool, any) {
			return stepQueue(state.(bool), output.(Op), Attribute(queue, attr))
		},
		DescribeOperation: func(_, output any) string { return output.(Op).String() },
	}
}

func stepQueue(on bool, o Op, name string) (bool, bool) {
	switch {
	case o.Kind == SetQueue:
		return o.Result != Refused, o.Value == "True"
	case o.Kind == LookQueues:
		return o.Queues[name] == on, on
	case o.Result == Done:
		return on, on
	case o.Result == Refused && o.Code == pbs.QueueDisabled:
		return !on, on
	default:
		return true, on
	}
}
