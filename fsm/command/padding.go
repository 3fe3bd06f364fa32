package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// The resources of a job that asks for more chunks than it needs, so that it can start
// although hosts fail (specification: reliable-startup section 3).
const (
	paddedSelect    = "select_reliable_startup"
	requestedSelect = "select_requested"
	tolerance       = "tolerate_node_failures"
)

// padded reports whether the job asks for more than its user does.
func padded(j *state.Job) bool {
	_, ok := j.Resources.Get(paddedSelect)
	return ok
}

// pad puts the padded select in the place of the one that is complete, which is kept unless
// an earlier one is, and makes the job tolerant unless somebody has said how much it is.
func pad(tx *state.Tx, j *state.Job, complete spec.Select, defaults resource.List) (spec.Select, error) {
	text, ok := j.Resources.Get(paddedSelect)
	if !ok {
		return complete, nil
	}
	sel, err := spec.ParseSelect(text)
	if err != nil {
		return spec.Select{}, err
	}
	larger, err := spec.Complete(sel, defaults, tx)
	if err != nil {
		return spec.Select{}, err
	}
	if _, kept := j.Resources.Get(requestedSelect); !kept {
		j.Resources = j.Resources.Set(requestedSelect, complete.String())
	}
	dropSums(tx, j)
	j.Resources = j.Resources.Set("select", larger.String())
	if _, said := j.Attrs.Get(tolerance, ""); !said {
		j.Attrs = j.Attrs.Set(tolerance, "", "all")
	}
	return larger, nil
}

// unpad follows changes of an altered job's request: a new select is a new request, and
// without its padding a job has the select back that its user asked for.
func unpad(tx *state.Tx, j *state.Job, changes []AttrChange) {
	switch requested, ok := j.Resources.Get(requestedSelect); {
	case !ok:
	case touches(changes, "select"):
		j.Resources = j.Resources.Unset(requestedSelect)
		if !touches(changes, paddedSelect) {
			j.Resources = j.Resources.Unset(paddedSelect)
		}
	case !padded(j):
		j.Resources = j.Resources.Set("select", requested).Unset(requestedSelect)
		dropSums(tx, j)
	}
}

// tolerates returns how much of the failures of sisters a job bears: "job_start", "all", or ""
// for none.
func tolerates(j *state.Job) string {
	if v, _ := j.Attrs.Get(tolerance, ""); v != "none" {
		return v
	}
	return ""
}

// starting reports whether the program of a run is still to be started.
func starting(j *state.Job) bool {
	return j.State == pbs.Running && (j.Substate == pbs.SubStarting || j.Substate == pbs.SubStageIn)
}

// bears reports whether a job goes on without one of its sisters.
func bears(j *state.Job) bool {
	return tolerates(j) == "all" || tolerates(j) != "" && starting(j)
}

// tellLoss tells the mother superiors of runs that start and bear failures that a host is gone,
// for their hooks and so that they need not wait for it.
func tellLoss(tx *state.Tx, host pbs.HostName) {
	told := map[pbs.JobID]bool{}
	for _, v := range vnodesOf(tx, host) {
		for _, held := range v.Jobs {
			j, ok := tx.Job(held.Job)
			if !ok || told[j.ID] || !held.Of(j) || !starting(j) || tolerates(j) == "" || !j.LastRun().Sister(host) {
				continue
			}
			told[j.ID] = true
			changes := attr.List{{Name: "sister_down", Value: string(host)}}
			tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderAlter, Job: j.ID, RunCount: j.RunCount, Changes: changes})
		}
	}
}
