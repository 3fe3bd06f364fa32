package command

import (
	"slices"
	"time"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// promised reports whether a reservation has something of a vnode, now or later.
func promised(tx *state.Tx, v *state.Vnode) bool {
	for range tx.PromisesOf(v.Name) {
		return true
	}
	return len(v.Reserved) > 0
}

// unusable reports whether a vnode that a reservation has cannot be used: it is lost, or keeps all others away because a job on it was
// admin-suspended (spec: advance-reservations 10).
func unusable(tx *state.Tx, name pbs.VnodeName) bool {
	v, ok := tx.Vnode(name)
	return !ok || v.Lost() || v.InMaintenance()
}

// tooSmall reports whether a vnode has become too small for what a reservation was promised, beside those that were promised
// before it.
func tooSmall(tx *state.Tx, share spec.ExecPart, r *state.Reservation) bool {
	v, ok := tx.Vnode(share.Vnode)
	if !ok || r.Forced {
		return false
	}
	idle := *v
	idle.Jobs = nil
	later := func(p *state.Promise) bool { return !p.Reservation.Before(r) || !p.Reservation.Well() }
	return tx.Overbooked(&idle, state.Hold{From: r.Start, Until: r.End, Items: share.Items, Alone: r.Claim().AloneOn(v)}, later) != nil
}

// judge says of a reservation whether it is degraded: it is while a vnode of it cannot be used, or is taken by a maintenance.
func judge(tx *state.Tx, id pbs.ReservationID) {
	r, ok := tx.Reservation(id)
	if !ok || r.Maintenance() || r.State != pbs.ResvConfirmed && r.State != pbs.ResvDegraded && r.State != pbs.ResvRunning {
		return
	}
	shares, err := alloc.ByVnode(r.Nodes(), tx)
	hurt := len(r.Taken()) > 0 || err == nil && slices.ContainsFunc(shares, func(s spec.ExecPart) bool {
		return unusable(tx, s.Vnode) || tooSmall(tx, s, r)
	})
	degraded := r.State == pbs.ResvDegraded || r.Substate == pbs.ResvDegraded
	next := *r
	switch {
	case hurt && !degraded:
		next.Substate = pbs.ResvDegraded
		if r.State == pbs.ResvConfirmed {
			next.State = pbs.ResvDegraded
		}
		retryLater(tx, &next)
	case !hurt && degraded:
		well(&next)
		setStarted(tx, &next, next.State == pbs.ResvRunning)
	default:
		return
	}
	tx.PutReservation(&next)
	if hurt || err != nil {
		return
	}
	for _, s := range shares { // those that were promised later may not fit beside it any more
		for other := range tx.ReservationsOn(s.Vnode) {
			if r.Before(other) {
				judge(tx, other.ID)
			}
		}
	}
}

// well ends the degradation of a reservation.
func well(r *state.Reservation) {
	r.Retry, r.Asked = 0, r.Asked+1
	if r.State == pbs.ResvDegraded {
		r.State = pbs.ResvConfirmed
	}
	r.Substate = r.State
}

// retryLater sets the time at which other vnodes are looked for: after reserve_retry_time, at latest at the start.
func retryLater(tx *state.Tx, r *state.Reservation) {
	first := r.Retry == 0
	r.Retry, r.Asked = tx.Now()+retryTime(tx), r.Asked+1
	if r.State == pbs.ResvDegraded && r.Start > tx.Now() {
		r.Retry = min(r.Retry, r.Start)
	}
	text := "Next attempt to reconfirm reservation will be made on "
	if first {
		text = "An attempt to reconfirm reservation will be made on "
	}
	tx.Emit(state.Event{Kind: state.ReservationRetried, Reservation: r, Text: text})
}

// defaultRetry is reserve_retry_time where it is not set.
const defaultRetry = pbs.Time(600 * time.Second)

// retryTime is reserve_retry_time, which older PBS calls reserve_retry_init.
func retryTime(tx *state.Tx) pbs.Time {
	for _, name := range []string{"reserve_retry_time", "reserve_retry_init"} {
		if n := tx.Server().Seconds(name); n > 0 {
			return pbs.Time(n) * pbs.Time(time.Second)
		}
	}
	return defaultRetry
}
