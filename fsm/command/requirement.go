package command

import (
	"errors"
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// checkQueueRequirement refuses a value of one of a queue's attributes of LSF that means nothing here.
func checkQueueRequirement(tx *state.Tx, ch AttrChange) error {
	switch ch.Entry.Name {
	case lsf.QueueRequirement, lsf.QueueLimits, lsf.QueueThresholds, lsf.QueueStop, lsf.QueueResume:
	default:
		return nil
	}
	if ch.Op == OpUnset || ch.Entry.Value == "" {
		return nil
	}
	if ch.Op != OpSet {
		return pbs.Attribute(pbs.BadAttributeValue, ch.Entry.Name)
	}
	return lsf.CheckQueue(ch.Entry.Name, ch.Entry.Value, tx, tx.LSF().Site(slices.Collect(tx.CustomResources())))
}

// withinReservations holds a job to what its queue lets it reserve (specification: reservation section 2.6),
// by whatever command it came. One that runs may reserve less than its queue's minimum.
func withinReservations(tx *state.Tx, q *state.Queue, j *state.Job) error {
	wants, limits := q.Get(lsf.QueueRequirement), q.Get(lsf.QueueLimits)
	if wants == "" && limits == "" || q.Routes() { // an application alone limits nothing
		return nil
	}
	site := tx.LSF().Site(slices.Collect(tx.CustomResources()))
	queue := lsf.QueueOf(wants, limits, site)
	if text, ok := j.Attrs.Get(lsf.JobRequirement, ""); ok {
		r, err := resreq.Parse(text, site)
		if err != nil {
			return nil // it was taken when the resource that it names was there
		}
		name, _ := j.Attrs.Get(lsf.JobApplication, "")
		application, _ := tx.LSF().Application(name)
		_, err = resreq.Merge(&r, application.Resources(site), queue, j.Live())
		return asPBS(err, true)
	}
	sel, _ := j.Resources.Get("select")
	r := lsf.Asked(sel, j.Resources, tx, site)
	_, err := resreq.Merge(&r, nil, queue, j.Live())
	return asPBS(err, false)
}

// asPBS gives a refusal its number: a job of LSF gets LSF's words, others PBS's.
func asPBS(err error, byLSF bool) error {
	var r *resreq.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r) && byLSF && r.Cause != resreq.Syntax:
		return pbs.Errorf(pbs.ResourceLimit, "%s", r)
	case errors.As(err, &r):
		return r.PBS()
	}
	return err
}
