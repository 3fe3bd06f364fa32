package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ForgetHost is the operator's word that a silent host is dead: it ends the wait for its
// fence at once (L2).
type ForgetHost struct {
	Host pbs.HostName `cbor:"1,keyasint"`
}

// Apply requeues or ends the jobs of the host. It is refused while the host is up, and
// changes nothing for one that was given up before.
func (c *ForgetHost) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	if h.Up {
		return pbs.Errorf(pbs.BadNodeState, "forget %s: it is up; only a host whose vnodes are down can be forgotten", h.Name)
	}
	if h.GivenUp {
		return nil
	}
	return giveUpHost(tx, m, h, "forgotten", res)
}
