package task

import (
	"slices"

	"rampart/fsm/pbs"
)

// A Trial is how the sisters stand of a run that tolerates their failures while it starts
// (specification: reliable-startup sections 5 and 6).
type Trial struct {
	Joined []pbs.HostName `json:"joined,omitempty"`
	Failed []pbs.HostName `json:"failed,omitempty"` // at a step, or declared gone
	// Step is what counts: the joins, or the prologues, of which it went well for those in Proven.
	Step   StartStep      `json:"step"`
	Proven []pbs.HostName `json:"proven,omitempty"`
}

// A StartStep is what a sister is asked to do before the program starts.
type StartStep uint8

// The steps.
const (
	StepJoin StartStep = iota + 1
	StepPrologue
)

var startSteps = [...]string{StepJoin: "JOIN_JOB", StepPrologue: "IM_EXEC_PROLOGUE"}

// String returns PBS's name of the message.
func (s StartStep) String() string { return startSteps[s] }

// provingWord is what a trial hears when the prologues begin.
const provingWord word = "the prologues count"

var trialSteps = table[StartStep]{{StepJoin, provingWord, StepPrologue}}

// The events of a start that tolerates failures.
type (
	// SisterTried tells how a sister did at a step.
	SisterTried struct {
		Host pbs.HostName
		Step StartStep
		OK   bool
	}
	// SistersTried are several of them.
	SistersTried []SisterTried
	// Proving says that from now on the prologues count.
	Proving struct{}
	// Pruned says that the assignment was changed before the program.
	Pruned struct{}
)

func (SisterTried) event()  {}
func (SistersTried) event() {}
func (Proving) event()      {}
func (Pruned) event()       {}

// OnTrial reports whether the run is started in a way that tolerates failures of its sisters.
func (l Life) OnTrial() bool { return l.Trial != nil }

// onTrial changes a copy of the trial, if there is one.
func (l Life) onTrial(edit func(tr *Trial)) Life {
	if l.Trial == nil {
		return l
	}
	next := *l.Trial
	edit(&next)
	l.Trial = &next
	return l
}

// Prunable reports whether the assignment may be cut down before the program: also where nobody but the
// mother superior is part of the run, or it has begun to tolerate failures since the sisters were asked.
func (t Task) Prunable() bool { return !t.Sister() && t.Tolerates() && t.Checkpoints.Restart == nil }

// sisterDown is the attribute by which the servers tell that a host of the run was declared
// gone. It is no attribute of the job.
const sisterDown = "sister_down"

// Tolerates reports whether failures of sisters do not end the start.
func (o Order) Tolerates() bool {
	v := o.Attrs.Get("tolerate_node_failures")
	return v == "all" || v == "job_start"
}

// enduring reports whether failures of sisters never end the job.
func (o Order) enduring() bool { return o.Attrs.Get("tolerate_node_failures") == "all" }

// Good reports whether a host counts as one on which the job can run. Only the mother superior
// of a job that tolerates failures knows better.
func (t Task) Good(host pbs.HostName) bool {
	switch tr := t.Life.Trial; {
	case tr == nil || host == t.Hosts[0].Name:
		return true
	case slices.Contains(tr.Failed, host):
		return false
	case tr.Step == StepPrologue:
		return slices.Contains(tr.Proven, host)
	default:
		return slices.Contains(tr.Joined, host)
	}
}

// passed reports whether all sisters have done the step; answered, whether those that have not
// are known to have failed.
func (tr *Trial) passed(step StartStep, sisters []Host) (all, answered bool) {
	passed := tr.Joined
	if step == StepPrologue {
		passed = tr.Proven
	}
	done, failed := make(map[pbs.HostName]bool, len(passed)), make(map[pbs.HostName]bool, len(tr.Failed))
	for _, h := range passed {
		done[h] = true
	}
	for _, h := range tr.Failed {
		failed[h] = true
	}
	all, answered = true, true
	for _, h := range sisters {
		if !done[h.Name] {
			all = false
			answered = answered && failed[h.Name]
		}
	}
	return all, answered
}

// stepTrial decides what follows from an event of a start that tolerates failures; ok is false
// if it is none.
func (t Task) stepTrial(ev Event) (next Task, ok bool) {
	switch ev := ev.(type) {
	case SisterTried:
		return t.tried(ev), true
	case SistersTried:
		for _, one := range ev {
			t = t.tried(one)
		}
		return t, true
	case Proving:
		t.Life = t.Life.onTrial(func(tr *Trial) { tr.Step, _ = trialSteps.after(tr.Step, provingWord) })
		return t, true
	case Pruned:
		t.Life.Pruned = true
		return t, true
	}
	return t, false
}

// tried notes how a sister did. A late success makes it good again.
func (t Task) tried(ev SisterTried) Task {
	if t.Sister() || !t.Party(ev.Host) {
		return t
	}
	t.Life = t.Life.onTrial(func(tr *Trial) { tr.note(ev) })
	return t
}

// note takes down how a sister did.
func (tr *Trial) note(ev SisterTried) {
	failed := slices.DeleteFunc(slices.Clone(tr.Failed), func(h pbs.HostName) bool { return h == ev.Host })
	if !ev.OK {
		tr.Failed = append(failed, ev.Host)
		return
	}
	tr.Failed = failed
	list := &tr.Joined
	if ev.Step == StepPrologue {
		list = &tr.Proven
	}
	if !slices.Contains(*list, ev.Host) {
		*list = append(slices.Clip(*list), ev.Host)
	}
}

// pruneAtStart is the attribute by which the servers say that prune_at_job_start is set. It is no
// attribute of the job.
const pruneAtStart = "prune_at_job_start"

// prunes reports whether the run is reduced to what was requested because no hook has reduced it.
func (t Task) prunes() bool {
	return t.Prunable() && !t.Life.Pruned && t.Attrs.Get(pruneAtStart) == "True" && t.Attrs.Resource("Resource_List", "select_requested") != ""
}
