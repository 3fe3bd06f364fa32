package command

import (
	"slices"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// choose gives a job that starts one of its alternatives, as if it had asked for that alone (specification: reservation section 2.8).
func choose(tx *state.Tx, j *state.Job, choice int) error {
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	all := lsf.ReadAlternatives(text)
	switch {
	case len(all) == 0 && choice == 0:
		return nil
	case choice < 0 || choice >= len(all):
		return pbs.Errorf(pbs.InvalidRequest, "start %s: it has %d alternatives, and none of the number %d", j.ID, len(all), choice)
	}
	if err := instead(tx, j, all, choice); err != nil {
		return err
	}
	whole, merged := j.Attrs.Get(lsf.JobCombined, "")
	if !merged {
		whole, _ = j.Attrs.Get(lsf.JobRequirement, "")
	}
	if r, err := resreq.Parse(whole, tx.LSF().Site(slices.Collect(tx.CustomResources()))); err == nil {
		j.Attrs = j.Attrs.Set(lsf.JobEffective, "", r.Effective(choice).String())
	}
	return nil
}

// unchoose gives a job that is queued again all of its alternatives. If the first one cannot be had any more, the job has no choice from
// then on, and asks for what it ran with.
func unchoose(tx *state.Tx, j *state.Job) {
	if _, chosen := j.Attrs.Get(lsf.JobEffective, ""); !chosen {
		return
	}
	next := *j
	next.Attrs = j.Attrs.Unset(lsf.JobEffective, "")
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	if err := instead(tx, &next, lsf.ReadAlternatives(text), 0); err != nil {
		j.Attrs = next.Attrs.Unset(lsf.JobAlternatives, "")
		return
	}
	*j = next
}

// instead gives a job another of its alternatives. What it refuses leaves the job half changed.
func instead(tx *state.Tx, j *state.Job, all []lsf.Alternative, choice int) error {
	next := lsf.Instead(j.Resources, all, choice)
	had, _ := j.Resources.Get("select")
	now, _ := next.Get("select")
	j.Resources = next
	q, ok := tx.Queue(j.Queue)
	if had == now || !ok {
		return nil
	}
	dropSums(tx, j)
	return completeResources(tx, q, j)
}
