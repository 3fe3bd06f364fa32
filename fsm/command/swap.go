package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// SwapJobs exchanges the places of two jobs in the order in which they are considered, and
// their queues if these differ: qorder. Or it gives one another place in its queue: btop and bbot of LSF.
type SwapJobs struct {
	Job   pbs.JobID `cbor:"1,keyasint"`
	Other pbs.JobID `cbor:"2,keyasint"`

	// The job's new place from 1 on, if there is no other job, among those of its queue and priority that are not started.
	FromTop    uint32 `cbor:"3,keyasint,omitempty"`
	FromBottom uint32 `cbor:"4,keyasint,omitempty"`
	Own        bool   `cbor:"5,keyasint,omitempty"` // among those of its owner
}

// Apply exchanges the places of jobs that do not run.
func (c *SwapJobs) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	a, err := c.swappable(tx, c.Job)
	if err != nil {
		return err
	}
	if c.Other == "" {
		return c.place(tx, a)
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

// place gives a job another place in its queue. Those in between move on by one, into places that these jobs had: nobody else's changes.
func (c *SwapJobs) place(tx *state.Tx, j *state.Job) error {
	if (c.FromTop == 0) == (c.FromBottom == 0) {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	var peers []*state.Job
	for o := range tx.Jobs() {
		if o.Queue == j.Queue && o.Priority == j.Priority && !o.IsSubjob() && !o.Live() && o.State != pbs.Finished && !tx.Expired(o) &&
			(!c.Own || o.Owner.Name == j.Owner.Name) {
			peers = append(peers, o)
		}
	}
	slices.SortFunc(peers, func(a, b *state.Job) int {
		if state.Before(a, b) {
			return -1
		}
		return 1
	})
	at := slices.IndexFunc(peers, func(o *state.Job) bool { return o.ID == j.ID })
	to := int(min(uint64(c.FromTop), uint64(len(peers)))) - 1
	if c.FromBottom > 0 {
		to = len(peers) - int(min(uint64(c.FromBottom), uint64(len(peers))))
	}
	if at < 0 {
		return pbs.Refuse(pbs.BadState)
	}
	moved := slices.Insert(slices.Delete(slices.Clone(peers), at, at+1), to, j)
	for i := min(at, to); i <= max(at, to); i++ {
		next := *moved[i]
		next.Rank = peers[i].Place() + 1
		tx.PutJob(&next)
	}
	return nil
}
