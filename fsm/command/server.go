package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageServer sets and unsets attributes of the server: qmgr.
type ManageServer struct {
	Verb    Verb         `cbor:"1,keyasint"`
	Changes []AttrChange `cbor:"2,keyasint,omitempty"`
}

// Apply makes all the changes or none.
func (c *ManageServer) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Verb != VerbSet && c.Verb != VerbUnset {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	list, err := editList(tx, attr.Server, tx.Server().Attrs, c.Changes)
	if err != nil {
		return err
	}
	if err := limitable(tx, list, c.Changes); err != nil {
		return err
	}
	server := *tx.Server()
	server.Attrs = list
	next := &server
	if q := next.DefaultQueue(); q != "" && q != tx.Server().DefaultQueue() {
		if _, ok := tx.Queue(q); !ok {
			return pbs.Refuse(pbs.UnknownQueue)
		}
	}
	if next.Fence() != tx.Server().Fence() {
		next.FenceChanged = m.Index
		lengthenFences(tx, next.Fence())
	}
	if err := oneFormula(tx, next, c.Changes); err != nil {
		return err
	}
	forgets := tx.Server().KeepsHistory() && !next.KeepsHistory()
	tx.PutServer(next)
	if forgets { // what is too much at once goes with the next ticks
		tx.Expire(historyKept(tx))
	}
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "server", By: m.Asker, Text: describe(c.Changes)})
	return nil
}

// describe writes changes as the server log tells them.
func describe(changes []AttrChange) string {
	text := ""
	for i, ch := range changes {
		if i > 0 {
			text += ","
		}
		text += ch.name() + "=" + ch.Entry.Value
	}
	return text
}
