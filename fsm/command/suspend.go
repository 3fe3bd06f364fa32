package command

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// The signals that suspend and resume a job (specification: cli-contract section 4).
const (
	Suspend      = "suspend"
	Resume       = "resume"
	AdminSuspend = "admin-suspend"
	AdminResume  = "admin-resume"
)

// Suspends reports whether the signal suspends or resumes a job.
func Suspends(signal string) bool {
	return signal == Suspend || signal == Resume || signal == AdminSuspend || signal == AdminResume
}

// suspends reports whether the order stops the processes of a job, so that others may have
// what it gives back once it is confirmed.
func suspends(o *state.Order) bool {
	return o.Kind == state.OrderSignal && (o.Signal == Suspend || o.Signal == AdminSuspend)
}

// maySuspend refuses what cannot be suspended or resumed with the signal.
func maySuspend(tx *state.Tx, j *state.Job, signal string) error {
	admin := isAdminSuspended(tx, j)
	switch {
	case signal == Suspend || signal == AdminSuspend:
		if j.State != pbs.Running || j.Substate != pbs.SubRunning {
			return pbs.Refuse(pbs.BadState)
		}
		if j.Run.Release != nil {
			return pbs.Errorf(pbs.ResourceBusy, "a release of vnodes of the job is under way")
		}
		if j.Preempting() {
			return pbs.Errorf(pbs.BadState, "%s is being preempted", j.ID)
		}
		if signal == AdminSuspend && BeingSuspended(tx, j) { // that one's confirmation would leave the vnodes out of maintenance
			return pbs.Errorf(pbs.BadState, "%s is being suspended", j.ID)
		}
	case !j.Suspended():
		return pbs.Refuse(pbs.BadState)
	case admin != (signal == AdminResume):
		return pbs.Refuse(pbs.BadResume)
	}
	return nil
}

// isAdminSuspended reports whether the job keeps its vnodes in maintenance.
func isAdminSuspended(tx *state.Tx, j *state.Job) bool {
	return slices.ContainsFunc(tx.Stakes(j), func(s state.Stake) bool { return s.Held().Admin })
}

// put stores the vnode of a share with what the run holds of it from now on.
func put(tx *state.Tx, s state.Stake, held state.VnodeJob) error {
	next, err := s.Vnode.Exchange(s.At, held, tx)
	if err != nil {
		return err
	}
	next.LastUsed = tx.Now()
	tx.PutSettled(next)
	return nil
}

// suspended makes the job of a confirmed order a suspended one, and gives its resources
// back: all, or those that restrict_res_to_release_on_suspend names.
func suspended(tx *state.Tx, o *state.Order) error {
	j, ok := tx.Job(o.Job)
	if !ok || !j.Is(o.RunCount) || j.State != pbs.Running || j.Substate != pbs.SubRunning {
		return nil // it has ended, or is suspended already
	}
	next := *j
	next.Substate = pbs.SubSuspended
	if j.Preempting() || j.LastRun().StoppedByLoad() != nil {
		next.Substate = pbs.SubSchedSuspended
	}
	next.EditRun().StoppedAt = tx.Now()
	tx.NoteRelease(&next)
	left, err := tx.LeftBySuspension(&next)
	if err != nil {
		return err
	}
	for _, l := range left {
		held := l.Held()
		if held.Items, err = resource.Sub(held.Items, l.Items, tx); err != nil {
			return err
		}
		held.Suspended, held.Admin, held.CPUs = true, o.Signal == AdminSuspend, nil
		if err := put(tx, l.Stake, held); err != nil {
			return err
		}
	}
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.JobSuspended, Job: &next, Text: next.LastRun().Released().String()})
	return nil
}

// nothing reports whether a list of consumables comes to nothing.
func nothing(l resource.List) bool {
	return !slices.ContainsFunc(l, func(it resource.Item) bool { return strings.Trim(it.Value, "0kbmgtpw.:") != "" })
}

// resume takes back what a suspended job gave, and orders its processes to go on. Whoever asks for a resumption but the
// scheduler has the job wait for that one: limits, reservations and others that wait count, as for a start.
func (c *SignalJob) resume(tx *state.Tx, m Meta, j *state.Job, res *state.Result) error {
	next := *j
	if c.Signal == Resume && !c.Scheduled {
		next.Substate = pbs.SubSchedSuspended
		tx.PutJob(&next)
		tx.Emit(state.Event{Kind: state.JobSignaled, Job: &next, By: m.Asker, Text: c.Signal})
		return nil
	}
	if c.Scheduled && !j.WaitsToGoOn() { // somebody has suspended it since the scheduler looked
		return pbs.Refuse(pbs.BadState)
	}
	if err := retake(tx, &next); err != nil {
		return err
	}
	next.ForgetStart() // it is told to suspended jobs, too
	loadGone(tx, &next)
	run := next.EditRun()
	if run.Refused {
		run.Refused, next.Comment = false, ""
	}
	next.Comment = cmp.Or(c.Comment, next.Comment)
	run.StoppedFor, run.StoppedAt = run.Stopped(tx.Now()), 0
	next.Substate, run.Preemption, run.Suspension = pbs.SubRunning, goesOn(tx, j), nil
	tx.PutJob(&next)
	o := tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderSignal, Job: j.ID, RunCount: j.RunCount, Signal: c.Signal})
	tx.Emit(state.Event{Kind: state.JobSignaled, Job: &next, By: m.Asker, Text: c.Signal})
	tx.Emit(state.Event{Kind: state.JobResumed, Job: &next})
	res.Order, res.Host = o.ID, o.Host
	return nil
}

// shownOn returns how often a job stands among the jobs of one of its vnodes: for each cpu, and once for a
// chunk without any.
func shownOn(j *state.Job, name pbs.VnodeName) int {
	shown := 0
	for _, chunk := range j.LastRun().AllVnodes() {
		for _, p := range chunk.Parts {
			if p.Vnode == name {
				shown += max(cpusIn(p.Items), 1)
			}
		}
	}
	return min(shown, maxCPUs)
}

// retake charges the vnodes again, or refuses with ResourceBusy (L3).
func retake(tx *state.Tx, j *state.Job) error {
	left, err := tx.LeftBySuspension(j)
	if err != nil {
		return err
	}
	promised := state.Promised{}
	for _, l := range left { // before any change: the caller may go on without
		l.Items = tx.HeldAt(j, l.Items, tx.Now()) // of the rest others have been given
		if err := regained(tx, j, l, promised); err != nil {
			return err
		}
	}
	for _, l := range left {
		held := l.Held()
		if held.Items, err = resource.Add(held.Items, l.Items, tx); err != nil {
			return err
		}
		held.CPUs = l.Vnode.FreeCPUs(shownOn(j, l.Vnode.Name))
		held.Suspended, held.Admin = false, false
		if err := put(tx, l.Stake, held); err != nil {
			return err
		}
	}
	return nil
}

// regained refuses what the vnode cannot give back to the suspended run now: nothing, when it takes no jobs. In maintenance it is only for
// the runs that have brought it there: each of them is resumed by itself. Reservations get what they are to have (L15).
func regained(tx *state.Tx, j *state.Job, l state.Left, promised state.Promised) error {
	if l.Vnode.InMaintenance() && !l.Held().Admin {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is in maintenance", l.Vnode.Name)
	}
	if l.Vnode.Lost() && !l.Held().Admin {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is %s", l.Vnode.Name, l.Vnode.State())
	}
	if !tx.Beside(l.Stake) {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is not free for exclusive use", l.Vnode.Name)
	}
	if nothing(l.Items) && !l.Held().Exclusive {
		return nil
	}
	if short := tx.ShortFor(l.Vnode, l.Held().Reservation, l.Items, promised); short != nil {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", l.Vnode.Name, short.Error())
	}
	held := l.Held()
	held.Items = l.Items // what it has kept nobody was promised
	return leavesPromised(tx, j, l.Vnode, held)
}
