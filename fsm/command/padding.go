package command

import (
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

// padded tells whether the job asks for more than its user does.
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

// paddable refuses what a replica of an earlier level would not know.
func paddable(tx *state.Tx, j *state.Job) error {
	if padded(j) && tx.Cluster().FeatureLevel < LevelObjects {
		return pbs.Attribute(pbs.UnknownResource, "Resource_List."+paddedSelect)
	}
	return nil
}
