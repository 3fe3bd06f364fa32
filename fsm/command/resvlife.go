package command

import (
	"slices"
	"strconv"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// turnReservations begins and ends the reservations whose time has come. After an outage of all replicas one may have begun
// and ended meanwhile, which is accounted as that.
func turnReservations(tx *state.Tx) error {
	var due []pbs.ReservationID
	for r := range tx.DueReservations(tx.Now()) {
		due = append(due, r.ID)
	}
	for _, id := range due[:min(len(due), turnsAtOnce)] {
		if err := turn(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// turnsAtOnce bounds how many reservations one entry begins or ends: the rest is for the next one, which is not far.
const turnsAtOnce = 500

// turn brings one reservation up to the time.
func turn(tx *state.Tx, id pbs.ReservationID) error {
	for {
		r, ok := tx.Reservation(id)
		if !ok || r.Start == 0 {
			return nil
		}
		next := *r
		switch now := tx.Now(); {
		case r.State == pbs.ResvConfirmed && passedBy(tx, &next):
			tx.PutReservation(&next)
			judge(tx, id)
		case r.State == pbs.ResvUnconfirmed && r.End <= now:
			return dissolve(tx, r, system(tx))
		case r.State == pbs.ResvUnconfirmed && r.Start <= now && !r.Void:
			next.Void = true
			tx.PutReservation(&next)
			return nil
		case (r.State == pbs.ResvConfirmed || r.State == pbs.ResvDegraded) && r.Start <= now:
			begin(tx, &next)
		case r.State == pbs.ResvBeingAltered && !r.Running() && r.Start <= now: // nobody has decided in time
			denyAlteration(tx, &next)
		case r.State == pbs.ResvBeingAltered && r.Running() && tx.Closes(r) <= now:
			denyAlteration(tx, &next)
		case r.State == pbs.ResvRunning && tx.Closes(r) <= now:
			if err := end(tx, &next); err != nil {
				return err
			}
			if len(r.Occurrences) == 1 {
				return nil
			}
		case r.State == pbs.ResvRunning && r.Idle != 0 && r.Idle+r.Patience() <= now:
			tx.Emit(state.Event{Kind: state.ReservationIdled, Reservation: r, Text: strconv.FormatInt(r.Patience().Unix(), 10)})
			if len(r.Occurrences) > 1 {
				return end(tx, &next)
			}
			return dissolve(tx, r, system(tx))
		default:
			return nil
		}
	}
}

// passedBy drops the occurrences of a standing reservation that were over before anybody could begin them, but for the last one;
// they are accounted as begun.
func passedBy(tx *state.Tx, r *state.Reservation) bool {
	n := 0
	for n < len(r.Occurrences)-1 {
		from, until := r.Times(n)
		if until > tx.Now() {
			break
		}
		then := *r
		then.Occurrences, then.Start, then.End = r.Occurrences[n:], from, until
		then.State, then.Substate = pbs.ResvRunning, pbs.ResvRunning
		tx.Emit(state.Event{Kind: state.ReservationBegan, Reservation: &then, By: system(tx)})
		tx.Emit(state.Event{Kind: state.ReservationOver, Reservation: &then, By: system(tx)})
		n++
	}
	if n == 0 {
		return false
	}
	r.Occurrences = slices.Clone(r.Occurrences[n:])
	r.Start = r.Occurrences[0].Start
	r.End = r.Start + r.Length
	r.Resources = r.Resources.Set("walltime", lasting(r.Length))
	r.Forced = false
	return true
}

// begin assigns the vnodes of the next occurrence, and opens the way for its jobs.
func begin(tx *state.Tx, r *state.Reservation) {
	victim := len(r.Taken()) > 0
	if r.Substate == pbs.ResvConfirmed {
		r.Substate = pbs.ResvRunning
	} else {
		r.Substate = pbs.ResvDegraded
	}
	r.State = pbs.ResvRunning
	if shares, err := alloc.ByVnode(r.Nodes(), tx); err == nil {
		for _, s := range shares {
			if v, ok := tx.Vnode(s.Vnode); ok {
				share := alloc.Reserved{Reservation: r.ID, Items: s.Items, Exclusive: r.Claim().AloneOn(v)}
				if next, err := v.Reserve(share, tx); err == nil {
					next.OverCommitted = tx.Exceeded(next) != nil
					tx.PutVnode(next)
				}
			}
		}
	}
	setStarted(tx, r, !victim || len(r.Nodes()) > 0)
	if r.Patience() > 0 && empty(tx, r.ID) {
		r.Idle = tx.Now()
	}
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationBegan, Reservation: r, By: system(tx)})
}

func setStarted(tx *state.Tx, r *state.Reservation, on bool) {
	if q, ok := tx.Queue(r.ID.Queue()); ok && q.Started != on {
		next := *q
		next.Started = on
		tx.PutQueue(&next)
	}
}

// end ends an occurrence: the last one with the reservation, another with the jobs that run; those that wait stay for the next.
func end(tx *state.Tx, r *state.Reservation) error {
	if len(r.Occurrences) == 1 {
		return dissolve(tx, r, system(tx))
	}
	over := *r
	tx.Emit(state.Event{Kind: state.ReservationOver, Reservation: &over, By: system(tx)})
	r.State, r.Substate, r.Idle, r.Retry = pbs.ResvDeletingJobs, pbs.ResvDeletingJobs, 0, 0
	setStarted(tx, r, false)
	tx.PutReservation(r)
	for _, j := range slices.Collect(tx.Insiders(r.ID)) {
		if j.Live() && !stagingOut(j) {
			kill(tx, j, 0, false)
		}
	}
	if tx.Occupied(r.ID) {
		return nil
	}
	return advance(tx, r)
}

// advance goes on to the next occurrence.
func advance(tx *state.Tx, r *state.Reservation) error {
	next := *r
	unreserve(tx, r.Nodes(), r.ID)
	next.Occurrences = slices.Clone(r.Occurrences[1:])
	next.Start = next.Occurrences[0].Start
	next.End = next.Start + r.Length
	next.Resources = r.Resources.Set("walltime", lasting(r.Length))
	next.State, next.Substate, next.Forced = pbs.ResvConfirmed, pbs.ResvConfirmed, false
	tx.PutReservation(&next)
	judge(tx, r.ID)
	return nil
}

// unreserve takes the vnodes of an assignment back from a reservation.
func unreserve(tx *state.Tx, nodes spec.ExecVnode, id pbs.ReservationID) {
	for _, name := range nodes.Vnodes() {
		v, ok := tx.Vnode(name)
		if !ok {
			continue
		}
		if next, err := v.Unreserve(id, tx); err == nil && next != v {
			next.LastUsed = tx.Now()
			tx.PutSettled(next)
		}
	}
}

// reshare gives a reservation that runs what its vnodes are now, which were others before. What its jobs use stays.
func reshare(tx *state.Tx, r *state.Reservation, before spec.ExecVnode) error {
	shares, err := alloc.ByVnode(r.Nodes(), tx)
	if err != nil {
		return err
	}
	sums := make(map[pbs.VnodeName]resource.List, len(shares))
	for _, s := range shares {
		sums[s.Vnode] = s.Items
	}
	for _, name := range before.Vnodes() {
		v, ok := tx.Vnode(name)
		if !ok {
			continue
		}
		share, ok := v.ReservedFor(r.ID)
		if !ok {
			continue
		}
		if _, stays := sums[name]; !stays && !nothing(share.Used) {
			return pbs.Refuse(pbs.ResvNotEmpty)
		}
		next, err := v.Unreserve(r.ID, tx)
		if err != nil {
			return err
		}
		if items, stays := sums[name]; stays {
			share.Items = items
			if next, err = next.Reserve(share, tx); err != nil {
				return err
			}
		}
		tx.PutSettled(next)
	}
	for _, s := range shares {
		v, ok := tx.Vnode(s.Vnode)
		if !ok {
			return pbs.Refuse(pbs.UnknownNode)
		}
		if _, has := v.ReservedFor(r.ID); has {
			continue
		}
		next, err := v.Reserve(alloc.Reserved{Reservation: r.ID, Items: s.Items, Exclusive: r.Claim().AloneOn(v)}, tx)
		if err != nil {
			return err
		}
		next.OverCommitted = tx.Exceeded(next) != nil
		tx.PutVnode(next)
	}
	return nil
}

// followReservations settles, at the end of each proposal, what follows from it for reservations: vnodes of them that were
// lost or are back, jobs that have left or come.
func followReservations(tx *state.Tx) {
	for {
		vnodes, reservations := tx.Touched()
		if len(vnodes)+len(reservations) == 0 {
			return
		}
		for _, name := range vnodes {
			for r := range tx.ReservationsOn(name) {
				judge(tx, r.ID)
			}
			if v, ok := tx.Vnode(name); ok && v.OverPromised != tx.OverPromised(v) {
				next := *v
				next.OverPromised = !v.OverPromised
				tx.PutVnode(&next)
			}
		}
		for _, id := range reservations {
			followJobs(tx, id)
		}
	}
}

// followJobs closes a reservation that waited for its last job to leave, and notes since when one is idle.
func followJobs(tx *state.Tx, id pbs.ReservationID) {
	r, ok := tx.Reservation(id)
	if !ok {
		return
	}
	occupied := tx.Occupied(id)
	switch {
	case r.State == pbs.ResvBeingDeleted && !occupied:
		if expel(tx, r, system(tx)) == nil { // what came back into the queue meanwhile
			_ = closeReservation(tx, r)
		}
	case r.State == pbs.ResvDeletingJobs && !occupied:
		_ = advance(tx, r)
		_ = turn(tx, id)
	case r.State == pbs.ResvRunning && r.Patience() > 0:
		next := *r
		switch idle := empty(tx, id); {
		case idle == (r.Idle != 0):
			return
		case idle:
			next.Idle = tx.Now()
		default:
			next.Idle = 0
		}
		tx.PutReservation(&next)
	}
}

// empty reports whether a reservation has no job, neither running nor queued.
func empty(tx *state.Tx, id pbs.ReservationID) bool {
	for range tx.Insiders(id) {
		return false
	}
	return true
}
