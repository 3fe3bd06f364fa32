package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// SwapJobs exchanges the places of two jobs in the order in which they are considered, and
// their queues if these differ: qorder.
type SwapJobs struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Other pbs.JobID `cbor:"2,keyasint"`
}

// Apply exchanges the places of jobs that do not run.
func (c *SwapJobs) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	a, err := c.swappable(tx, c.Job)
	if err != nil {
		return err
	}
	b, err := c.swappable(tx, c.Other)
	if err != nil {
		return ofOther(err)
	}
	first, second := *a, *b
	first.Rank, second.Rank = b.Place()+1, a.Place()+1
	if a.Queue == b.Queue {
		tx.PutJob(&first)
		tx.PutJob(&second)
		return nil
	}
	switch pbs.Begun { // subjobs of theirs run in that queue
	case a.State:
		return pbs.Refuse(pbs.BadState)
	case b.State:
		return ofOther(pbs.Refuse(pbs.BadState))
	}
	if err := intoQueue(tx, &first, b.Queue); err != nil {
		return err
	}
	if err := intoQueue(tx, &second, a.Queue); err != nil {
		return ofOther(err)
	}
	putMoved(tx, m, a, &first)
	putMoved(tx, m, b, &second)
	return nil
}

// ofOther says of a refusal that it is about the second job.
func ofOther(err error) error { return pbs.About(1, err) }

func intoQueue(tx *state.Tx, j *state.Job, name pbs.QueueName) error {
	q, ok := tx.Queue(name)
	if !ok {
		return pbs.Refuse(pbs.UnknownQueue)
	}
	_, err := enter(tx, q, j, moved)
	return err
}

func (c *SwapJobs) swappable(tx *state.Tx, id pbs.JobID) (*state.Job, error) {
	j, err := liveJob(tx, id)
	switch {
	case err != nil:
		return nil, err
	case j.Live(), j.IsSubjob():
		return nil, pbs.Refuse(pbs.BadState)
	}
	return j, nil
}
