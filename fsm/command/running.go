package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// runningOrEach returns the running job that is meant, or refuses. Of an array, or a range of
// subjobs, it is nil, and each live subjob was treated.
func runningOrEach(tx *state.Tx, id pbs.JobID, each func(pbs.JobID) error) (*state.Job, error) {
	some, several, err := subsetOf(tx, id)
	if err != nil {
		return nil, err
	}
	if several {
		return nil, some.eachLive(tx, each)
	}
	j, err := liveJob(tx, id)
	if err != nil {
		return nil, err
	}
	if j.State != pbs.Running {
		return nil, pbs.Refuse(pbs.BadState)
	}
	return j, nil
}
