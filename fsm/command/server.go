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
	tell(tx, m, "server", c.Verb, c.Changes)
	return nil
}

// tell has the server log say what qmgr did to an object, as PBS says it: who did it, and each attribute.
func tell(tx *state.Tx, m Meta, object string, verb Verb, changes []AttrChange) {
	e := state.Event{Kind: state.ObjectChanged, Object: object, By: m.Asker, Text: verbTexts[verb]}
	for _, ch := range changes {
		operator := " = "
		switch ch.Op {
		case OpIncrease:
			operator = " + "
		case OpDecrease:
			operator = " - "
		}
		e.Attributes = append(e.Attributes, ch.name()+operator+ch.Entry.Value)
	}
	tx.Emit(e)
}

// verbTexts are PBS's words, blanks included.
var verbTexts = map[Verb]string{
	VerbCreate: "created", VerbDelete: "deleted", VerbSet: state.AttributesSet, VerbUnset: state.AttributesUnset,
}
