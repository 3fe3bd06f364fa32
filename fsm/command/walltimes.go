package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// shrinksToFit reports whether a job says how long it is to run at least.
func shrinksToFit(j *state.Job) bool {
	_, ok := j.Resources.Get("min_walltime")
	return ok
}

// boundedBy returns which of what a job asks for a limit of a resource is about: that resource, and of walltime the bounds
// of a job that shrinks to fit. Its walltime is given to it when it starts; then somebody may set it.
func boundedBy(j *state.Job, limit string) []string {
	switch {
	case limit == "walltime" && shrinksToFit(j) && j.Live():
		return []string{"min_walltime", "max_walltime", "walltime"}
	case limit == "walltime" && shrinksToFit(j):
		return []string{"min_walltime", "max_walltime"}
	}
	return []string{limit}
}

// walltimes refuses bounds of the time of a job that contradict each other.
func walltimes(j *state.Job) error {
	time := resource.Def{Type: resource.Time}
	of := func(name string) (int64, bool) {
		text, ok := j.Resources.Get(name)
		return time.Measure(text), ok
	}
	least, shrinks := of("min_walltime")
	most, bounded := of("max_walltime")
	soft, expected := of("soft_walltime")
	hard, limited := of("walltime")
	switch {
	case bounded && !shrinks:
		return pbs.Refuse(pbs.NoMinWalltime)
	case bounded && least > most:
		return pbs.Refuse(pbs.WalltimesReversed)
	case shrinks && j.Array != nil:
		return pbs.Refuse(pbs.ArrayWalltimeRange)
	case shrinks && expected:
		return pbs.Errorf(pbs.BadAttributeValue, "soft_walltime is not supported with Shrink to Fit jobs")
	case expected && limited && soft > hard:
		return pbs.Attribute(pbs.BadAttributeValue, "Resource_List.soft_walltime")
	}
	return nil
}
