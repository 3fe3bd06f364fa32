package command

import (
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// haltFor is how long no job starts, and how long deadlines stay lifted, after the servers
// were about to end and did not.
const haltFor = pbs.Time(time.Minute)

// HaltServers is said before all servers end on purpose: qterm.
type HaltServers struct {
	Lift bool `cbor:"1,keyasint,omitempty"` // the hosts' deadlines: jobs run on however long the servers are away
	End  bool `cbor:"2,keyasint,omitempty"` // they end now
}

// Apply keeps jobs from starting. With deadlines lifted no silence of a host counts until
// it has renewed again under a new one (L2).
func (c *HaltServers) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	next := *tx.Server()
	next.HaltedAt = m.At
	if c.Lift {
		if next.LiftedAt == 0 {
			next.FenceChanged = m.Index
			lengthenFences(tx, 0)
		}
		next.LiftedAt = m.At
	}
	tx.PutServer(&next)
	if c.End {
		tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "server", By: m.Asker, Text: "shutdown"})
	}
	return nil
}

// resume lets jobs start again: another term has begun, or the servers did not end.
func resume(tx *state.Tx, m Meta, begun bool) {
	s := tx.Server()
	halted := s.HaltedAt != 0 && (begun || m.At > s.HaltedAt+haltFor)
	lifted := s.LiftedAt != 0 && !begun && m.At > s.LiftedAt+haltFor
	if !halted && !lifted {
		return
	}
	next := *s
	if halted {
		next.HaltedAt = 0
		if s.HotSince == 0 {
			forgetHalted(tx)
		}
	}
	if lifted { // shorter than for ever: who has not renewed since keeps that
		next.LiftedAt, next.FenceChanged = 0, m.Index
	}
	tx.PutServer(&next)
}
