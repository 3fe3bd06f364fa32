package sched

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A victim is a running job that others may preempt.
type victim struct {
	job     *state.Job
	level   int64
	methods string // in the order in which they are tried
	pending bool   // it is being preempted already
	taken   bool   // somebody gets in this cycle what it has
	below   int64  // the level of whom it makes way for, if it is taken

	bySuspension, byEnd *run // what it leaves; nil: that was not looked up yet
}

// leaves returns what is free when a victim was preempted by its method of that place, or by its last one.
func (c *cycle) leaves(v *victim, place int) run {
	suspends := v.method(place) == command.PreemptSuspend
	kept := &v.byEnd
	if suspends {
		kept = &v.bySuspension
	}
	if *kept == nil {
		left := c.view.LeftByEnd(v.job)
		if suspends {
			left, _ = c.view.LeftBySuspending(v.job)
		}
		r := leaving(left)
		*kept = &r
	}
	return **kept
}

// leaving returns what a job leaves as a run that ends.
func leaving(left []state.Left) run {
	var r run
	for _, l := range left {
		r.placed = append(r.placed, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: l.Vnode.Name, Items: l.Items}}})
		r.exclusive = r.exclusive || l.Held().Exclusive
	}
	return r
}

func (v *victim) method(place int) string { return v.methods[min(place, len(v.methods)-1):][:1] }

// victims returns the jobs that may be preempted: those that are being preempted already come first, then
// those of lower levels, then those that were started last (preempt_sort).
func (c *cycle) victims() []victim {
	var all []victim
	methods := newMethods(c.view.Server().SchedGet("preempt_order"))
	for j := range c.view.Running() {
		v := victim{job: j, pending: j.Preempting()}
		switch {
		case c.spares(j), c.inside(j.Queue) != nil:
		case v.pending:
			v.methods = j.Run.Preemption.Method
		case j.State == pbs.Running && j.Substate == pbs.SubRunning && command.BeingSuspended(c.view, j): // by somebody, or by load
			v.pending, v.methods = true, command.PreemptSuspend
		case j.State == pbs.Running && j.Substate == pbs.SubRunning:
			v.methods = methods.of(j, c.now)
		}
		if v.methods != "" {
			v.level = c.runningLevel(j)
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b victim) int {
		if a.pending != b.pending {
			if a.pending {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.job.Started, a.job.Started), cmp.Compare(b.job.Seq, a.job.Seq))
	})
	return all
}

// methods is preempt_order: by which methods a job is preempted of whose walltime no more
// than so many percent are left. The first entry holds for all.
type methods []struct {
	most    int64
	letters string
}

func newMethods(order string) methods {
	words := strings.Fields(order)
	var all methods
	for i := 0; i < len(words); i += 2 {
		most := int64(100)
		if i > 0 {
			most, _ = strconv.ParseInt(words[i-1], 10, 64)
		}
		all = append(all, struct {
			most    int64
			letters string
		}{most, words[i]})
	}
	return all
}

// of returns the methods by which a job can be preempted.
func (m methods) of(j *state.Job, now pbs.Time) string {
	left := int64(100)
	if all := walltime(j); all > 0 && all < unending {
		left = max(0, int64((j.RunningSince(now)+all-now)/(all/100+1)))
	}
	letters := ""
	for _, e := range m {
		if left <= e.most {
			letters = e.letters
		}
	}
	failed := ""
	if p := j.Run.Preemption; p != nil {
		failed = p.Failed
	}
	return strings.Map(func(letter rune) rune {
		if strings.ContainsRune(failed, letter) || !command.Preemptable(j, string(letter)) {
			return -1
		}
		return letter
	}, letters)
}

// targeted reports whether a job may preempt another one by its preempt_targets: entries
// queue=NAME and Resource_List.NAME=VALUE, one of which must be true.
func targeted(targets string, j *state.Job) bool {
	if targets == "" {
		return true
	}
	for entry := range strings.SplitSeq(targets, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
		if strings.EqualFold(name, "queue") && pbs.QueueName(value) == j.Queue {
			return true
		}
		if list, res, ok := strings.Cut(name, "."); ok && strings.EqualFold(list, "Resource_List") {
			if has, asked := j.Resources.Get(res); asked && has == value {
				return true
			}
		}
	}
	return false
}
