package command

import (
	"fmt"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// SetRTTClass says how far the replicas are from each other. Each takes it up when it is
// started next.
type SetRTTClass struct {
	Class pbs.RTTClass `cbor:"1,keyasint"`
}

// Apply sets the class; one that is not known is refused.
func (c *SetRTTClass) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if _, err := pbs.ParseRTTClass(string(c.Class)); err != nil {
		return pbs.Errorf(pbs.InvalidRequest, "%v", err)
	}
	if tx.Cluster().RTTClass == c.Class {
		return nil
	}
	tx.EditCluster().RTTClass = c.Class
	text := fmt.Sprintf("the class of round-trip times is %s", c.Class)
	if m.Asker.Name != "" {
		text += " by " + m.Asker.String()
	}
	tx.Emit(state.Event{Kind: state.TrustChanged, Object: "replicas", By: m.Asker, Text: text})
	return nil
}
