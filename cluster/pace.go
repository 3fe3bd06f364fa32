package cluster

import (
	"time"

	"rampart/fsm/pbs"
)

// A pace is the class of round trips whose times a replica runs with.
type pace struct{ class pbs.RTTClass }

// far stretches a time that suits replicas of one site.
func (p pace) far(d time.Duration) time.Duration { return d * time.Duration(p.class.Factor()) }
