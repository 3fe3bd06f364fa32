package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// oneForm refuses a limit in one form for an object that has some in the other. An object that has both already keeps them: whoever
// sets something else is not bothered.
func oneForm(tx *state.Tx, list attr.List, changes []AttrChange) error {
	for _, ch := range changes {
		if ch.Op != OpUnset && state.IsLimit(ch.Entry.Name) && state.MixesLimits(list) && tx.Cluster().FeatureLevel >= LevelObjects {
			return pbs.Refuse(pbs.MixedLimits)
		}
	}
	return nil
}
