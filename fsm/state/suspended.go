package state

import (
	"iter"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// LetterSuspended is the letter of a job that runs and is suspended.
const LetterSuspended = "S"

// Suspended tells whether the job runs and is suspended: its letter is S, and what it gave
// back is free for others.
func (j *Job) Suspended() bool {
	return j.State == pbs.Running && (j.Substate == pbs.SubSuspended || j.Substate == pbs.SubSchedSuspended)
}

// Released returns what is recorded of a suspended job that gave back a part of what it
// had, as exec_vnode writes it; "" for one that gave back all.
func (j *Job) Released() string {
	text, _ := j.Attrs.Get("resources_released", "")
	return text
}

// Suspensions yields the jobs that are suspended, in the order of their submission.
func (t *tables) Suspensions() iter.Seq[*Job] { return t.suspended.all() }

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
	case j.Released() == "":
		return nil
	}
	for _, e := range j.Attrs.Of("resource_released_list") {
		gone := resource.List{{Name: e.Resource, Value: e.Value}}
		for _, it := range j.heldItems() { // what held vnodes give back is not listed
			if it.Name == e.Resource {
				gone = append(gone, it)
			}
		}
		if _, has := all.Get(e.Resource); !has {
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

// InMaintenance tells whether the vnode takes no jobs since one on it was admin-suspended.
func (v *Vnode) InMaintenance() bool { return v.maintenanceJobs() != "" }

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
