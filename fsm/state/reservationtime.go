package state

import (
	"iter"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// never is after all times that anybody can name.
const never = pbs.Time(1<<63 - 1)

// next returns the next moment at which something is due: the start of one that has not begun, the end of one that has
// and of one that never will, the end of the patience with one that is idle.
func (r *Reservation) next() pbs.Time {
	switch {
	case r.Start == 0, r.State == pbs.ResvBeingDeleted, r.State == pbs.ResvDeletingJobs:
		return never
	case !r.Running() && !r.Void:
		return r.Start
	case r.Idle != 0:
		return min(r.End, r.Idle+r.Patience())
	}
	return r.End
}

// Patience returns delete_idle_time: how long it may run without a job; 0: as long as it likes.
func (r *Reservation) Patience() pbs.Time {
	text, _ := r.Attrs.Get("delete_idle_time", "")
	q, err := resource.Parse(resource.Time, text)
	if err != nil {
		return 0
	}
	return Span(q.Int())
}

// PostProcessing returns resv_post_processing_time: how long before their end reservations are closed.
func (s *Server) PostProcessing() pbs.Time {
	return Span(s.Seconds("resv_post_processing_time"))
}

// Closes returns when the present occurrence is over, which is its end but for resv_post_processing_time.
func (t *tables) Closes(r *Reservation) pbs.Time {
	return max(r.Start, r.End-t.server.PostProcessing())
}

// dueOf returns when something is due of a reservation, with regard to resv_post_processing_time.
func (t *tables) dueOf(r *Reservation) pbs.Time {
	if r.Running() {
		return min(r.due, t.Closes(r))
	}
	return r.due
}

// DueReservations yields the reservations of which something is due at a time, the earliest first.
func (t *tables) DueReservations(at pbs.Time) iter.Seq[*Reservation] {
	return func(yield func(*Reservation) bool) {
		last := at + t.server.PostProcessing()
		for r := range t.moments.all() {
			if r.due > last || t.dueOf(r) <= at && !yield(r) {
				return
			}
		}
	}
}

// NextReservation returns the next moment at which something is due of a reservation; false if there is none.
func (t *tables) NextReservation() (at pbs.Time, ok bool) {
	post := t.server.PostProcessing()
	for r := range t.moments.all() {
		if r.due == never || ok && r.due-post >= at {
			break
		}
		if due := t.dueOf(r); !ok || due < at {
			at, ok = due, true
		}
		if post == 0 {
			break
		}
	}
	return at, ok
}
