package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// deleteSubjobs ends an array, or some subjobs of it. Those that were never started are
// taken out of it together, as one. Those that stage out come to their end as it is; to name only such is refused.
func (c *DeleteJob) deleteSubjobs(tx *state.Tx, m Meta, some subset) error {
	parent, whole := some.parent, c.Job.IsArray()
	if parent.State == pbs.Finished {
		return c.forgetArray(tx, some)
	}
	next := *parent
	a := next.EditArray()
	gone := a.Queued.Both(some.indices)
	a.Queued = a.Queued.Minus(some.indices)
	asked := next
	if whole {
		a.Deleted, a.Failed = true, a.Failed || a.Begun
		next.Forget = next.Forget || c.forgets(tx)
	} else {
		asked.ID = next.ID.Subjobs(gone)
	}
	if whole && !parent.Array.Deleted || !whole && len(gone) > 0 {
		tx.Emit(state.Event{Kind: state.JobDeleteAsked, Job: &asked, By: m.Asker, Quiet: c.Quiet})
	}
	if whole && !a.Begun {
		next.Comment = "Job deleted by " + m.Asker.String()
	}
	tx.PutJob(&next)
	recorded := append(some.of(tx.LiveSubjobs(parent)), some.of(tx.ReturnedSubjobs(parent))...)
	leaves := 0
	for _, j := range recorded {
		if stagingOut(j) && !c.Force {
			leaves++
			continue
		}
		one := DeleteJob{Job: j.ID, Force: c.Force, History: c.History, Quiet: c.Quiet}
		if err := one.Apply(tx, m, nil); err != nil {
			return err
		}
	}
	if !whole && len(gone) == 0 && leaves > 0 && leaves == len(recorded) {
		return pbs.Refuse(pbs.BadState)
	}
	if !whole && some.indices.Count() == 1 && len(gone) == 0 && len(recorded) == 0 {
		return pbs.Errorf(pbs.HasFinished, "Request invalid for finished array subjob")
	}
	return endArray(tx, parent.ID, c.History && whole)
}

// forgetArray takes a finished array out of the history.
func (c *DeleteJob) forgetArray(tx *state.Tx, some subset) error {
	if !c.History {
		return pbs.Refuse(pbs.HasFinished)
	}
	for _, j := range some.of(tx.RecordedSubjobs(some.parent)) {
		tx.DeleteJob(j.ID)
	}
	if c.Job.IsArray() {
		tx.DeleteJob(some.parent.ID)
	}
	return nil
}
