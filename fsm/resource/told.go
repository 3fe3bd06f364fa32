package resource

import (
	"iter"

	"rampart/fsm/pbs"
)

// Told makes a list of what a daemon has told of resources. What is not in a form that can be shown is left out
// rather than holding up the rest for ever.
func Told(all iter.Seq2[string, string]) (out List) {
	for name, value := range all {
		if ValidName(name) && value != "" && len(value) <= pbs.MaxValue {
			out = out.Set(name, value)
		}
	}
	return out
}
