package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// HostTrouble says that a mom which lives cannot take jobs, or can again.
type HostTrouble struct {
	Host pbs.HostName `cbor:"1,keyasint"`
	Text string       `cbor:"2,keyasint,omitempty"` // why; empty: it can
}

// Apply marks the host's vnodes; jobs that run there stay.
func (c *HostTrouble) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	if h.Trouble == c.Text {
		return nil
	}
	next := *h
	next.Trouble = c.Text
	tx.PutHost(&next)
	for _, v := range vnodesOf(tx, c.Host) {
		marked := *v
		setFlags(&marked, v.Flags&^state.VnodeTroubled|troubled(c.Text), m.At)
		tx.PutVnode(&marked)
	}
	if (c.Text == "") != (h.Trouble == "") {
		tx.Emit(state.Event{Kind: state.HostTroubled, Object: string(c.Host), Text: c.Text})
	}
	return nil
}

func troubled(text string) state.VnodeFlags {
	if text == "" {
		return 0
	}
	return state.VnodeTroubled
}
