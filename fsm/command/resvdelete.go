package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// DeleteReservation removes a reservation with its jobs: pbs_rdel, and the wait of pbs_rsub -I -SECONDS that is over.
type DeleteReservation struct {
	Reservation pbs.ReservationID `cbor:"1,keyasint"`
	Unconfirmed bool              `cbor:"2,keyasint,omitempty"` // only if it is not decided yet: the wait for that is over
}

// Apply removes it at once if no job runs in it, else when the last one has left.
func (c *DeleteReservation) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	r, ok := tx.Reservation(c.Reservation)
	switch {
	case !ok:
		return pbs.Refuse(pbs.UnknownReservation)
	case c.Unconfirmed && r.State != pbs.ResvUnconfirmed:
		return pbs.Refuse(pbs.BadState)
	case c.Unconfirmed:
		return dissolve(tx, r, system(tx))
	case r.State == pbs.ResvBeingDeleted:
		return nil
	}
	return dissolve(tx, r, m.Asker)
}

// dissolve ends a reservation with its jobs: those in its queue are deleted, those that run get SIGTERM and SIGKILL after kill_delay.
func dissolve(tx *state.Tx, r *state.Reservation, by pbs.User) error {
	tx.Emit(state.Event{Kind: state.ReservationRemoved, Reservation: r, By: by})
	if r.State != pbs.ResvUnconfirmed && r.State != pbs.ResvDeletingJobs {
		tx.Emit(state.Event{Kind: state.ReservationOver, Reservation: r, By: by})
	}
	if q, ok := tx.Queue(r.ID.Queue()); ok {
		next := *q
		next.Enabled, next.Started = false, false
		tx.PutQueue(&next)
	}
	next := *r
	next.Ask, next.Idle, next.Retry = nil, 0, 0
	next.State, next.Substate = pbs.ResvBeingDeleted, pbs.ResvDeletingJobs
	tx.PutReservation(&next)
	if err := expel(tx, &next, by); err != nil {
		return err
	}
	if !tx.Occupied(r.ID) {
		return closeReservation(tx, &next)
	}
	return nil
}

// expel ends the jobs of a reservation that is over.
func expel(tx *state.Tx, r *state.Reservation, by pbs.User) error {
	m := Meta{At: tx.Now(), Index: tx.Index(), Asker: by}
	for _, j := range slices.Collect(tx.Insiders(r.ID)) {
		j, ok := tx.Job(j.ID)
		switch {
		case !ok || j.State == pbs.Finished:
		case j.Live():
			if err := expelRunning(tx, j, by); err != nil {
				return err
			}
		case j.IsSubjob():
		default:
			if (&DeleteJob{Job: j.ID}).Apply(tx, m, nil) != nil {
				continue // it leaves by itself
			}
			if gone, ok := tx.Job(j.ID); ok && gone.State == pbs.Finished {
				next := *gone
				next.Comment = j.CommentText() + " and terminated"
				tx.PutJob(&next)
			}
		}
	}
	return nil
}

// expelRunning ends a run with its reservation.
func expelRunning(tx *state.Tx, j *state.Job, by pbs.User) error {
	if j.Run.Ending == state.EndingDelete || stagingOut(j) {
		return nil
	}
	next := *j
	if j.Suspended() { // its vnodes have it as one that is
		if err := move(&next, pbs.EventDelete); err != nil {
			return err
		}
	}
	next.Substate = pbs.SubExiting
	run := next.EditRun()
	run.Ending, run.EndedBy = state.EndingDelete, by.String()
	refuseRelease(&next, pbs.BadState)
	tx.PutJob(&next)
	kill(tx, &next, killDelay(tx, j), false)
	return nil
}

// closeReservation forgets a reservation of which no job is left.
func closeReservation(tx *state.Tx, r *state.Reservation) error {
	unreserve(tx, r.Nodes(), r.ID)
	tx.DeleteReservation(r)
	tx.DeleteQueue(r.ID.Queue())
	if r.Maintenance() {
		giveBackTaken(tx, r)
	}
	return nil
}
