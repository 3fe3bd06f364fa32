package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// limitable refuses limits that a server or a queue cannot have: of what bounds the time of a job itself, and such as oneForm refuses.
func limitable(tx *state.Tx, list attr.List, changes []AttrChange) error {
	for _, ch := range changes {
		bound := ch.Entry.Name == "resources_min" || ch.Entry.Name == "resources_max"
		if bound && ch.Op != OpUnset && (ch.Entry.Resource == "min_walltime" || ch.Entry.Resource == "max_walltime") {
			return pbs.Refuse(pbs.NoLimitOf)
		}
	}
	return oneForm(list, changes)
}

// oneForm refuses a limit in one form for an object that has some in the other. An object that has both already keeps them: whoever
// sets something else is not bothered.
func oneForm(list attr.List, changes []AttrChange) error {
	for _, ch := range changes {
		if ch.Op != OpUnset && state.IsLimit(ch.Entry.Name) && state.MixesLimits(list) {
			return pbs.Refuse(pbs.MixedLimits)
		}
	}
	return nil
}
