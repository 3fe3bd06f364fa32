package command

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A HookJob is a run of a job as a hook wants it.
type HookJob struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
	Set      attr.List    `cbor:"3,keyasint,omitempty"`
	Unset    []string     `cbor:"4,keyasint,omitempty"`
}

// hookSets are the attributes of a job that hooks on moms may set, besides resources_used
// (specification: hooks section 6.1).
var hookSets = []string{"Account_Name", "Execution_Time", "Hold_Types", "Priority", "Variable_List", "comment", "run_count"}

// job changes attributes of a job as far as a hook may: what cannot be taken is left out.
func (c *HookWishes) job(tx *state.Tx, m Meta, w HookJob) {
	j, ok := c.run(tx, ReportedTask{Job: w.Job, RunCount: w.RunCount})
	if !ok {
		return
	}
	next := *j
	var done []string
	for _, e := range w.Set {
		def, known := attr.Lookup(attr.Job, e.Name)
		if !known || e.Resource != "" || !slices.Contains(hookSets, e.Name) {
			continue
		}
		value, err := def.Parse(e.Value)
		if holds, bad := pbs.ParseHolds(e.Value); e.Name == "Hold_Types" && bad == nil {
			// A hook may run as the owner of the job: what others hold stays held.
			value = (holds | next.Holds&^pbs.HoldUser).String()
		}
		if err == nil {
			err = applyChange(&next, AttrChange{Entry: attr.Entry{Name: e.Name, Value: value}})
		}
		if err == nil {
			done = append(done, e.Name+"="+value)
		}
	}
	for _, name := range w.Unset {
		unset := AttrChange{Op: OpUnset, Entry: attr.Entry{Name: name}}
		if slices.Contains(hookSets, name) && applyChange(&next, unset) == nil {
			done = append(done, name+"=")
		}
	}
	if len(done) == 0 {
		return
	}
	if !next.Live() {
		settle(&next, m.At)
	}
	tx.PutJob(&next)
	followParent(tx, next.ID, false)
	tx.Emit(state.Event{
		Kind: state.HookAsked, Object: string(c.Source.Host), Text: "hook request update " + string(w.Job) + " " + strings.Join(done, " "),
	})
}
