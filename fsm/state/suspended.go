package state

import (
	"iter"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// LetterSuspended is the letter of a job that runs and is suspended.
const LetterSuspended = "S"

// Suspended reports whether the job runs and is suspended: its letter is S, and what it gave
// back is free for others.
func (j *Job) Suspended() bool {
	return j.State == pbs.Running && (j.Substate == pbs.SubSuspended || j.Substate == pbs.SubSchedSuspended)
}

// WaitsToGoOn reports whether the job is suspended until the scheduler lets it go on.
func (j *Job) WaitsToGoOn() bool { return j.Suspended() && j.Substate == pbs.SubSchedSuspended }

// AskedToGoOn reports whether somebody has asked that the job goes on, and it waits for what it gave back; not, where preemption or
// load has suspended it.
func (j *Job) AskedToGoOn() bool {
	return j.WaitsToGoOn() && j.Run.Preemption == nil && j.LastRun().StoppedByLoad() == nil
}

// A Suspension is what a suspended run gave back that did not give back all.
type Suspension struct {
	Released  spec.ExecVnode `cbor:"1,keyasint"`           // resources_released: a chunk for each part of exec_vnode
	Resources resource.List  `cbor:"2,keyasint,omitempty"` // resource_released_list
}

// Released returns what is recorded of a suspended run that gave back a part of what it had; nil for one that gave back
// all.
func (r *Run) Released() spec.ExecVnode {
	if s := r.Suspension; s != nil {
		return s.Released
	}
	return nil
}

// releasedList returns what it gave back in all.
func (r *Run) releasedList() resource.List {
	if s := r.Suspension; s != nil {
		return s.Resources
	}
	return nil
}

// Suspensions yields the jobs that are suspended, in the order of their submission.
func (t *tables) Suspensions() iter.Seq[*Job] { return t.mine(t.suspended.all()) }

// Letter returns job_state, but for X, which needs the array of a subjob.
func (j *Job) Letter() string {
	if j.Suspended() {
		return LetterSuspended
	}
	return j.State.Letter()
}

// charged returns what the job takes of the server's and its queue's resources.
func (t *tables) charged(j *Job) resource.List {
	all := resource.Only(j.Resources, t, resource.PerQueue)
	if p := j.LastRun().Phases; p != nil {
		all = p.Charged
	}
	switch {
	case !j.Suspended():
		return all
	case j.LastRun().Released() == nil:
		return nil
	}
	for _, listed := range j.LastRun().releasedList() {
		gone := resource.List{listed}
		for _, it := range j.LastRun().heldItems() { // what held vnodes give back is not listed
			if it.Name == listed.Name {
				gone = append(gone, it)
			}
		}
		if _, has := all.Get(listed.Name); !has {
			continue
		}
		for _, it := range gone {
			if left, err := resource.Sub(all, resource.List{it}, t); err == nil {
				all = left
			}
		}
	}
	return all
}

// Active returns how many runs use the vnode: those that are not suspended.
func (v *Vnode) Active() int {
	n := 0
	for _, held := range v.Jobs {
		if !held.Suspended {
			n++
		}
	}
	return n
}

// InMaintenance reports whether the vnode takes no jobs because one on it was admin-suspended.
func (v *Vnode) InMaintenance() bool {
	return slices.ContainsFunc(v.Jobs, func(held VnodeJob) bool { return held.Admin })
}

// maintenanceJobs lists the jobs that were admin-suspended on the vnode.
func (v *Vnode) maintenanceJobs() string {
	var ids []string
	for _, held := range v.Jobs {
		if held.Admin {
			ids = append(ids, string(held.Job))
		}
	}
	return strings.Join(ids, ",")
}
