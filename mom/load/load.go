package load

import (
	"context"
	"math"
)

// Values are what is known of a host, by load index: mem, swp and tmp, and their maxima, in megabytes. An index without a value is absent.
// Once told they are not written to.
type Values map[string]float64

// A Source finds values out until ctx ends, and tells each time all that it has.
type Source interface {
	Run(ctx context.Context, tell func(Values))
}

// steps are what an index has to move by: what is less changes no decision that could not as well have been made before.
var steps = map[string]float64{"r15s": 0.1, "r1m": 0.1, "r15m": 0.1, "ut": 2, "pg": 1, "ls": 1, "it": 1}

// share is the step of all others, of what was told before, and least is the least it is for large amounts.
const (
	share = 0.01
	least = 1
)

// Moved reports whether a value has changed by a step since it was told.
func Moved(told, now Values) bool {
	if len(told) != len(now) {
		return true
	}
	for name, v := range now {
		was, known := told[name]
		step, ok := steps[name]
		if !ok {
			step = share * math.Abs(was)
			if was >= least/share {
				step = max(step, least)
			}
		}
		const rounding = 1e-9
		if !known || v != was && math.Abs(v-was) >= step-rounding {
			return true
		}
	}
	return false
}
