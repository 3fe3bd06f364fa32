package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// alter makes the changes of the hooks of runjob, before the run is ordered.
func (c *StartJob) alter(tx *state.Tx, m Meta, j *state.Job) error {
	if len(c.Changes) == 0 {
		return nil
	}
	for _, ch := range c.Changes {
		if ChoosesVnodes(tx, ch.Entry) {
			return pbs.Attribute(pbs.RunningAttribute, ch.name())
		}
		if err := applyChange(j, ch); err != nil {
			return err
		}
	}
	if err := parseResources(tx, j); err != nil {
		return err
	}
	if altersDepend(c.Changes) && !j.IsSubjob() {
		if err := relink(tx, j, m.At); err != nil {
			return err
		}
	}
	tx.Emit(state.Event{Kind: state.JobAltered, Job: j, By: m.Asker, Changes: accountedChanges(j, c.Changes), Quiet: true})
	return nil
}

// AltersAtStart returns the alteration of a job whose start the hooks of runjob have looked at. What vnodes are chosen by is altered of the one
// subjob; how long it is to wait, of its array, which has the holds of all.
func AltersAtStart(id pbs.JobID, changes []AttrChange, choosesVnodes bool) *AlterJob {
	if id.Sub() > 0 && !choosesVnodes {
		id = id.Parent()
	}
	return &AlterJob{Job: id, Changes: changes, Hooked: true}
}

// toAlter returns the job that is altered. Hooks may alter a subjob that waits for its start: it has a record from then on.
func (c *AlterJob) toAlter(tx *state.Tx) (*state.Job, error) {
	if _, recorded := tx.Job(c.Job); recorded || !c.Hooked || c.Job.Sub() == 0 {
		return liveJob(tx, c.Job)
	}
	sub, err := freshSubjob(tx, c.Job, true)
	if err != nil {
		return nil, err
	}
	parent, ok := tx.Parent(sub)
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	next := *parent
	a := next.EditArray()
	a.Queued = a.Queued.Without(sub.Index())
	tx.PutJob(&next)
	tx.PutJob(sub)
	return sub, nil
}

// ChoosesVnodes reports whether an attribute is one by which vnodes are chosen for a job: those of
// a job that starts are chosen already.
func ChoosesVnodes(t resource.Table, e attr.Entry) bool {
	if e.Name != "Resource_List" {
		return false
	}
	def, ok := t.Resource(e.Resource)
	return e.Resource == "select" || e.Resource == "place" || ok && def.AtHost()
}
