package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// MaxRunOne is how many jobs may be in a set of which one is to run: each names all the others.
const MaxRunOne = 100

// linkRunOne brings a job, which nobody knows yet as it is, into the set of another one, and those of its own
// set with it. They are of one owner: one that ends deletes the others.
func linkRunOne(tx *state.Tx, j, other *state.Job) (*lost, error) {
	switch {
	case other.Owner.Name != j.Owner.Name:
		return nil, pbs.Attribute(pbs.BadAttributeValue, "depend")
	case other.State == pbs.Finished:
		return unsatisfied(tx, j, other.ID), nil
	case slices.Contains(j.Depends.RunOne(), other.ID):
		return nil, nil
	}
	var others []pbs.JobID // all but j
	for _, id := range slices.Concat(j.Depends.RunOne(), []pbs.JobID{other.ID}, other.Depends.RunOne()) {
		if id != j.ID && !slices.Contains(others, id) {
			others = append(others, id)
		}
	}
	if len(others) >= MaxRunOne {
		return nil, pbs.Errorf(pbs.BadAttributeValue, "runone takes %d jobs at most", MaxRunOne)
	}
	for _, id := range others {
		member, ok := tx.Job(id)
		if !ok {
			return nil, pbs.Refuse(pbs.UnknownJob)
		}
		next := *member
		rest := slices.DeleteFunc(slices.Clone(others), func(one pbs.JobID) bool { return one == id })
		next.Depends.SetRunOne(append(rest, j.ID))
		tx.PutJob(&next)
	}
	j.Depends.SetRunOne(others)
	j.Depends.HoldByOne(anyUnderWay(tx, others) && !j.UnderWay())
	holdSet(tx, others, j.UnderWay())
	return nil, nil
}

// followSet holds back those of a job's set that are not under way while another one is, and lets them
// go when none is any more.
func followSet(tx *state.Tx, j *state.Job) {
	if others := j.Depends.RunOne(); len(others) > 0 {
		holdSet(tx, append(slices.Clone(others), j.ID), false)
	}
}

// holdSet does so with all jobs of a set, or with those that are left of it; under: one besides them is
// under way.
func holdSet(tx *state.Tx, set []pbs.JobID, under bool) {
	under = under || anyUnderWay(tx, set)
	for _, id := range set {
		j, ok := tx.Job(id)
		if !ok || j.State == pbs.Finished {
			continue
		}
		next, held := *j, under && !j.UnderWay()
		if len(j.Depends.RunOne()) > 0 {
			if j.Depends.HeldByOne() == held {
				continue
			}
			next.Depends.HoldByOne(held)
		}
		if held {
			settle(&next, tx.Now())
		} else {
			unhold(&next, tx.Now())
		}
		tx.PutJob(&next)
	}
}

func anyUnderWay(tx *state.Tx, ids []pbs.JobID) bool {
	return slices.ContainsFunc(ids, func(id pbs.JobID) bool {
		j, ok := tx.Job(id)
		return ok && j.UnderWay()
	})
}

// leaveSet takes a job out of its set, at the others.
func leaveSet(tx *state.Tx, j *state.Job) {
	others := j.Depends.RunOne()
	for _, id := range others {
		if other, ok := tx.Job(id); ok && other.State != pbs.Finished {
			next := *other
			next.Depends.Remove(state.DependRunOne, j.ID)
			tx.PutJob(&next)
		}
	}
	holdSet(tx, others, false)
}

// endSet deletes the others of the set of a job that has run and is over, but for those that run all
// the same, and returns them.
func endSet(tx *state.Tx, j *state.Job) (deleted []*state.Job) {
	if !begun(j) {
		return nil
	}
	for _, id := range j.Depends.RunOne() {
		if other, ok := tx.Job(id); ok && other.State != pbs.Finished && !other.UnderWay() {
			deleted = append(deleted, abort(tx, other, dependencyLost(j.ID)))
		}
	}
	return deleted
}
