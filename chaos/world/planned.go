package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// planLate is how much later than its plan a job may start: no majority is away for longer.
const planLate = pbs.Time(20 * time.Second)

// A plan is what the job that comes first of those of the second queue was last told.
type plan struct {
	job   pbs.JobID
	due   pbs.Time // the earliest start that it was told, since something happened that no plan foresees; 0: it has no plan
	est   pbs.Time // what it was told last
	where string
	kept  map[pbs.VnodeName]int64     // slots
	taken map[pbs.VnodeName]pbs.JobID // of what was kept, by a job that comes later and is not over by est, since it was told
}

// configure has the cluster take over the files of LSF that LSF_ENVDIR names.
func (n starting) configure(ctx context.Context) error {
	reply, err := n.manager.Configure(ctx, connect.NewRequest(&api.ConfigureRequest{}))
	if err == nil && (reply.Msg.GetFatal() || len(reply.Msg.GetMessages()) > 0) {
		err = fmt.Errorf("the files of LSF: %q", reply.Msg.GetMessages())
	}
	return err
}

// unforeseen are the kinds of commands after which a plan may be another, although the job still comes first.
var unforeseen = []string{
	"HostUp", "HostDown", "HostFenced", "ForgetHost", "HostTrouble", "ManageServer", "ManageQueue", "ManageVnode", "ManageSched", "Reconfigure",
	"AlterJob", "RerunJob", "SignalJob", "MoveJob", "SwapJobs",
}

// plans notes what an entry makes of the plan of the job that comes first. Whoever replays the past comes later than the first who saw it.
func (k *book) plans(v *state.View, e command.Entry, outcomes []command.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v.Index() <= k.lastPlanned {
		return
	}
	k.lastPlanned = v.Index()
	k.leaves(v)
	told := false
	for i, p := range e.Proposals {
		if outcomes[i].Refusal != nil {
			continue
		}
		for _, c := range p.Commands {
			switch c := c.(type) {
			case *command.StartJob:
				k.takes(v, c.Job)
			case *command.KeepPending:
				told = true
			default:
				if slices.Contains(unforeseen, command.NameOf(c)) {
					k.plan = plan{job: k.plan.job}
				}
			}
		}
	}
	first := firstToPlan(v)
	if first == nil || first.ID != k.plan.job {
		k.plan = plan{}
	}
	if first == nil {
		return
	}
	k.plan.job = first.ID
	if k.plan.due != 0 && v.Now() > k.plan.due+planLate {
		k.misplanned(v, "%s waits, and was to start at %s", first.ID, k.moment(k.plan.due))
		k.plan = plan{job: first.ID}
	}
	if told {
		k.told(v, first)
	}
}

// misplanned notes what is wrong. The lock is held.
func (k *book) misplanned(v *state.View, format string, args ...any) {
	k.planned.Wrong = append(k.planned.Wrong, fmt.Sprintf("at index %d (%s) ", v.Index(), k.moment(v.Now()))+fmt.Sprintf(format, args...))
}

// moment returns a time of the log as one of the run.
func (k *book) moment(at pbs.Time) time.Duration {
	return time.Duration(at) - time.Duration(k.begun.UnixNano())
}

// leaves judges the job with the plan if it waits no more. The lock is held.
func (k *book) leaves(v *state.View) {
	j, there := v.Job(k.plan.job)
	if k.plan.due == 0 || there && j.MayStart() {
		return
	}
	if there && j.State == pbs.Running {
		k.planned.Started++
		if v.Now() > k.plan.due+planLate {
			k.misplanned(v, "%s starts, and was to at %s", j.ID, k.moment(k.plan.due))
		}
	}
	k.plan = plan{}
}

// firstToPlan returns which of the jobs that may start comes first in the second queue, nil if none waits there or one of an array does.
func firstToPlan(v *state.View) *state.Job {
	var first *state.Job
	for j := range v.Jobs() {
		if j.Queue == SecondQueue && j.MayStart() && (first == nil || state.Before(j, first)) {
			first = j
		}
	}
	if first == nil || first.Array != nil {
		return nil
	}
	return first
}

// takes notes of which vnodes a job that starts has something that was kept for the one with the plan. The next cycle says whether its
// plan has moved elsewhere. The lock is held.
func (k *book) takes(v *state.View, id pbs.JobID) {
	j, ok := v.Job(id)
	if !ok || k.plan.due == 0 || id == k.plan.job || j.State != pbs.Running {
		return
	}
	if walltime, _ := v.Resource("walltime"); j.Queue != SecondQueue {
		text, known := j.Resources.Get("walltime")
		end := v.Now() + pbs.Time(walltime.Measure(text))*pbs.Time(time.Second)
		if known && end <= k.plan.est+pbs.Time(2*time.Second) {
			return // it backfills; a part of a second does not count, nor what the start has waited for
		}
	}
	for _, name := range j.LastRun().ExecVnode.Vnodes() {
		if vn, ok := v.Vnode(name); ok && freeSlots(v, vn) < k.plan.kept[name] {
			k.plan.taken[name] = id
		}
	}
}

// freeSlots returns how many cpus of a vnode nothing runs on.
func freeSlots(v *state.View, vn *state.Vnode) int64 {
	ncpus, _ := v.Resource("ncpus")
	all, _ := vn.Available().Get("ncpus")
	used, _ := vn.Assigned.Get("ncpus")
	return max(0, ncpus.Measure(all)-ncpus.Measure(used))
}

// told takes over what a cycle has said of the job that comes first. The lock is held.
func (k *book) told(v *state.View, j *state.Job) {
	was := k.plan
	k.plan = plan{job: j.ID}
	where, planned := j.Attrs.Get("estimated", "exec_vnode")
	if !planned || j.Pending == nil || j.Pending.Paused {
		return
	}
	k.planned.By[string(j.ID)] = true
	next := plan{
		job: j.ID, est: j.EstimatedStart(), where: where, due: cmp.Or(was.due, j.EstimatedStart()),
		kept: map[pbs.VnodeName]int64{}, taken: map[pbs.VnodeName]pbs.JobID{},
	}
	next.due = min(next.due, next.est)
	room := slotsIn(v, where)
	for _, held := range j.Pending.Held {
		next.kept[held.Vnode] += held.Slots
		if next.kept[held.Vnode] > room[held.Vnode] {
			k.misplanned(v, "%s keeps %+v, and is to have %s", j.ID, j.Pending.Held, where)
		}
	}
	for name, by := range was.taken {
		if was.where == where && next.kept[name] < was.kept[name] {
			k.misplanned(v, "%d cpus of %s were kept for %s until %s, and %s has some of them; it keeps %+v until %s",
				was.kept[name], name, j.ID, k.moment(was.est), by, *j.Pending, k.moment(next.est))
		}
	}
	k.plan = next
}

// slotsIn returns how many cpus there are of each vnode in what is written as exec_vnode.
func slotsIn(v *state.View, where string) map[pbs.VnodeName]int64 {
	ncpus, _ := v.Resource("ncpus")
	all := map[pbs.VnodeName]int64{}
	placed, err := spec.ParseExecVnode(where)
	if err != nil {
		return all
	}
	for _, chunk := range placed {
		for _, part := range chunk.Parts {
			text, _ := part.Items.Get("ncpus")
			all[part.Vnode] += ncpus.Measure(text)
		}
	}
	return all
}

// newPlanned returns nothing seen.
func newPlanned() check.Planned { return check.Planned{By: make(map[string]bool)} }
