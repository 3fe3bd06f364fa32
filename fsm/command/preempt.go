package command

import (
	"iter"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// The methods of preempt_order.
const (
	PreemptSuspend    = "S"
	PreemptCheckpoint = "C"
	PreemptRequeue    = "R"
	PreemptDelete     = "D"
)

// PreemptJob takes what a running job has away from it, for a job that waits and comes before
// it (specification: suspend-release sections 2 and 5).
type PreemptJob struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"` // that was looked at
	Method   string       `cbor:"3,keyasint"`
	For      pbs.JobID    `cbor:"4,keyasint"`           // the job that waits; of subjobs that were never started their array
	Wish     bool         `cbor:"5,keyasint,omitempty"` // somebody wants that job to start, whatever its limits say: qrun
}

// Apply gives the order that the method takes, and notes for whom. A run that is being preempted already is
// refused, and so is one that nobody waits for any more: a plan may be old, and a new leader
// makes its own.
func (c *PreemptJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := liveJob(tx, c.Job)
	if err != nil {
		return err
	}
	if !j.Is(c.RunCount) || j.State != pbs.Running || j.Substate != pbs.SubRunning {
		return pbs.Refuse(pbs.BadState)
	}
	if j.Preempting() || j.LastRun().Checkpointing() || BeingSuspended(tx, j) {
		return pbs.Errorf(pbs.BadState, "%s is being preempted, suspended or checkpointed already", j.ID)
	}
	first, ok := tx.Job(c.For)
	if !ok || !first.Startable() && !(c.Wish && first.MayStart()) {
		return pbs.Errorf(pbs.BadState, "%s no longer waits", c.For)
	}
	mark := state.Preemption{At: m.At, Method: c.Method, For: c.For, Ways: tx.WaysOf(j)}
	if p := j.Run.Preemption; p != nil {
		mark.Failed = p.Failed
	}
	if c.Method == PreemptSuspend {
		if !tx.MayMakeWay(j, first) {
			return pbs.Errorf(pbs.BadState, "%s was suspended for %s before, which has not started since", j.ID, c.For)
		}
		mark.Ways = append(mark.Ways, state.Way{For: c.For, Turn: first.Turn()})
	}
	if err := c.order(tx, m, res); err != nil {
		return err
	}
	now, ok := tx.Job(c.Job)
	if !ok || !now.Live() {
		return nil
	}
	next := *now
	next.EditRun().Preemption = &mark
	tx.PutJob(&next)
	return nil
}

// order gives the one order that the method takes.
func (c *PreemptJob) order(tx *state.Tx, m Meta, res *state.Result) error {
	switch c.Method {
	case PreemptSuspend:
		return (&SignalJob{Job: c.Job, Signal: Suspend}).Apply(tx, m, res)
	case PreemptCheckpoint:
		return (&CheckpointJob{Job: c.Job}).Apply(tx, m, res)
	case PreemptRequeue:
		return (&RerunJob{Job: c.Job}).Apply(tx, m, res)
	case PreemptDelete:
		return (&DeleteJob{Job: c.Job}).Apply(tx, m, res)
	}
	return pbs.Refuse(pbs.InvalidRequest)
}

// Preemptable reports whether a running job can be preempted by a method at all.
func Preemptable(j *state.Job, method string) bool {
	switch method {
	case PreemptSuspend:
		return !j.LastRun().Checkpointing() && j.Run.Release == nil
	case PreemptDelete:
		return !j.LastRun().Checkpointing()
	case PreemptCheckpoint:
		return checkpointable(j) && !j.LastRun().Checkpointing()
	case PreemptRequeue:
		return !j.NotRerunnable && !j.LastRun().Checkpointing()
	}
	return false
}

// ordered is what has orders: a state, or a transaction.
type ordered interface {
	Orders(host pbs.HostName) iter.Seq[*state.Order]
}

// BeingSuspended reports whether an order to suspend the present run is on its way.
func BeingSuspended(t ordered, j *state.Job) bool { return suspension(t, j) != nil }

// suspension returns the order to suspend the present run that is on its way; nil: none is.
func suspension(t ordered, j *state.Job) *state.Order {
	for o := range t.Orders(j.Run.MS) {
		if o.Of(j) && suspends(o) {
			return o
		}
	}
	return nil
}

// notPreempted notes that the mom has not done what a preemption wanted: the scheduler tries
// the next method.
func notPreempted(tx *state.Tx, id pbs.JobID, run pbs.RunCount, method string) {
	j, ok := tx.Job(id)
	if !ok || !j.Is(run) || !j.Preempting() || j.Run.Preemption.Method != method {
		return
	}
	next := *j
	mark := *j.Run.Preemption
	if !strings.Contains(mark.Failed, mark.Method) {
		mark.Failed += mark.Method
	}
	mark.Method = ""
	next.EditRun().Preemption = &mark
	tx.PutJob(&next)
	if !another(tx, &next) {
		note(tx, &next, "Job failed to be preempted")
	}
}

// another reports whether preempt_order names a method by which the run has not failed to be preempted yet.
func another(tx *state.Tx, j *state.Job) bool {
	for _, word := range strings.Fields(tx.Server().SchedGetOf(tx.SchedulerOf(j.Queue), "preempt_order")) {
		for _, method := range strings.Split(word, "") {
			if !strings.Contains(j.Run.Preemption.Failed, method) && Preemptable(j, method) {
				return true
			}
		}
	}
	return false
}

// goesOn returns what is left of a preemption when the run goes on: for whom it was suspended for nothing; nil:
// nothing.
func goesOn(tx *state.Tx, j *state.Job) *state.Preemption {
	ways := tx.WaysOf(j)
	if len(ways) == 0 {
		return nil
	}
	return &state.Preemption{Ways: ways}
}

// A Leaver is a running job that is to be preempted, and how.
type Leaver struct {
	Job    *state.Job
	Method string
}

// RehearseStart refuses what StartJob would refuse of a job on the vnodes once the leavers are preempted: what is
// counted as theirs no more is what Apply takes from them.
func RehearseStart(v *state.View, leavers []Leaver, j *state.Job, placed spec.ExecVnode) error {
	gone, freed := map[pbs.VnodeName][]int{}, state.Promised{}
	for _, l := range leavers {
		left := v.LeftByEnd(l.Job)
		if l.Method == PreemptSuspend {
			var err error
			if left, err = v.LeftBySuspending(l.Job); err != nil {
				return err
			}
		}
		for _, s := range left {
			gone[s.Vnode.Name] = append(gone[s.Vnode.Name], s.At)
			if err := v.Return(s, freed); err != nil {
				return err
			}
		}
	}
	requests := map[pbs.VnodeName][]resource.List{}
	for _, chunk := range placed {
		for _, p := range chunk.Parts {
			requests[p.Vnode] = append(requests[p.Vnode], p.Items)
		}
	}
	promised := state.Promised{}
	for _, name := range placed.Vnodes() {
		vn, ok := v.Vnode(name)
		if !ok {
			return pbs.Refuse(pbs.UnknownNode)
		}
		if err := open(vn.Without(gone[name]), vn.AloneFor(j.Placement()), j.Reservation); err != nil {
			return err
		}
		items, err := resource.AddAll(requests[name], v)
		if err != nil {
			return err
		}
		if short := v.ShortAfter(vn, items, promised, freed); short != nil {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", name, short.Error())
		}
	}
	return nil
}
