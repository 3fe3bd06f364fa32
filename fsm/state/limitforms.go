package state

import "rampart/fsm/attr"

// IsLimit reports whether an attribute of a server or a queue limits what its jobs may be or take.
func IsLimit(name string) bool {
	older, newer := limitForms(name)
	return older || newer
}

// MixesLimits reports whether a list has limits of the older form (max_user_run = 2) and of the newer one
// (max_run = [u:PBS_GENERIC=2]), which PBS takes for two languages: an object speaks one of them.
func MixesLimits(list attr.List) bool {
	var older, newer bool
	for _, e := range list {
		o, n := limitForms(e.Name)
		older, newer = older || o, newer || n
	}
	return older && newer
}

// limitForms reports whether an attribute is a limit of the older or of the newer form.
func limitForms(name string) (older, newer bool) {
	for _, table := range [][]limitAttribute{softLimits, runLimits, queueLimits} {
		for _, a := range table {
			if a.name == name && name != offers {
				return a.kind != 0, a.kind == 0
			}
		}
	}
	return false, false
}
