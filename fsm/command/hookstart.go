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
		if err := applyChange(j, ch, true); err != nil {
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

// ChoosesVnodes reports whether an attribute is one by which vnodes are chosen for a job: those of
// a job that starts are chosen already.
func ChoosesVnodes(t resource.Table, e attr.Entry) bool {
	if e.Name != "Resource_List" {
		return false
	}
	def, ok := t.Resource(e.Resource)
	return e.Resource == "select" || e.Resource == "place" || ok && def.AtHost()
}
