package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageSched sets and unsets attributes of the scheduler: qmgr. There is one, and what
// it shares with the server (scheduling, job_sort_formula and others) is the server's.
type ManageSched struct {
	Verb    Verb         `cbor:"1,keyasint"`
	Changes []AttrChange `cbor:"2,keyasint,omitempty"`
}

// Apply makes all the changes or none.
func (c *ManageSched) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Verb != VerbSet && c.Verb != VerbUnset {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	next := *tx.Server()
	for _, ch := range c.Changes {
		o, list := attr.Sched, &next.Sched
		if SharedWithServer(ch.Entry.Name) {
			o, list = attr.Server, &next.Attrs
		}
		edited, err := editOne(tx, o, *list, ch)
		if err != nil {
			return err
		}
		*list = edited
	}
	tx.PutServer(&next)
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "sched", By: m.Asker, Text: describe(c.Changes)})
	return nil
}

// SharedWithServer tells whether the scheduler's attribute is the server's of that name.
func SharedWithServer(name string) bool {
	return name == "scheduling" || name == "scheduler_iteration" || name == "job_sort_formula"
}
