package state

import (
	"cmp"
	"iter"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A Reservation has vnodes for a time, or wants them (specification: advance-reservations). Its queue has the name of
// ID.Queue. It leaves no history: one that is over is no record any more.
type Reservation struct {
	ID       pbs.ReservationID    `cbor:"1,keyasint"`
	Seq      uint64               `cbor:"2,keyasint"`
	Owner    pbs.User             `cbor:"3,keyasint"`
	State    pbs.ReservationState `cbor:"4,keyasint"`
	Substate pbs.ReservationState `cbor:"5,keyasint"`
	// Start and End bound the present or next occurrence; 0: it begins as soon as its job fits, which is not decided.
	Start pbs.Time `cbor:"6,keyasint,omitempty"`
	End   pbs.Time `cbor:"7,keyasint,omitempty"`
	// Length is how long each further occurrence lasts, and of one without a start how long it is to last.
	Length pbs.Time `cbor:"8,keyasint"`
	// Occurrences are the present or next one and all that follow.
	Occurrences []Occurrence  `cbor:"9,keyasint"`
	Count       int           `cbor:"10,keyasint"`           // of all occurrences, those that are over included
	Rule        string        `cbor:"11,keyasint,omitempty"` // RFC 5545, of a standing one
	Zone        string        `cbor:"12,keyasint,omitempty"` // in which the rule counts
	Resources   resource.List `cbor:"13,keyasint"`           // Resource_List, with select, place and walltime
	Select      string        `cbor:"14,keyasint"`           // schedselect: the select with the defaults of chunks
	First       string        `cbor:"15,keyasint"`           // the select that it was made with, of which an alteration may leave out
	Attrs       attr.List     `cbor:"16,keyasint,omitempty"` // the others
	Created     pbs.Time      `cbor:"17,keyasint"`
	Changed     pbs.Time      `cbor:"18,keyasint"` // mtime
	Modified    uint64        `cbor:"19,keyasint"` // index of the last change

	// Asked numbers the questions to the scheduler: an answer to another than the last one is void.
	Asked uint64             `cbor:"20,keyasint,omitempty"`
	Ask   *ReservationChange `cbor:"21,keyasint,omitempty"` // an alteration that is not decided; replaced, never written to
	Retry pbs.Time           `cbor:"22,keyasint,omitempty"` // of one that is degraded: when other vnodes are looked for
	Idle  pbs.Time           `cbor:"23,keyasint,omitempty"` // since when it runs without a job; 0: it does not
	// Forced says that it was altered without regard to others, whose amounts it may take.
	Forced bool `cbor:"24,keyasint,omitempty"`
	// Void says that its start has passed while it was not decided.
	Void bool `cbor:"26,keyasint,omitempty"`
	// Granted is the index of the entry that has given it the vnodes that it has; 0: none has.
	Granted uint64 `cbor:"27,keyasint,omitempty"`
	// Partition is where it has its vnodes, as the scheduler has said that has confirmed it; empty: in none.
	Partition string `cbor:"28,keyasint,omitempty"`
	// Denied names the schedulers that have no vnodes for a new one, as long as others may have some; replaced, never written to.
	Denied []string `cbor:"29,keyasint,omitempty"`

	due pbs.Time // the next moment at which something is due of it; derived
}

// An Occurrence is one time at which a reservation is to have its vnodes.
type Occurrence struct {
	Start pbs.Time `cbor:"1,keyasint"`
	// Nodes are its vnodes, with what it has of each; empty: it has none. Nobody writes to them: others take their place.
	Nodes spec.ExecVnode `cbor:"2,keyasint,omitzero"`
	// Taken are vnodes of it that a maintenance has.
	Taken []pbs.VnodeName `cbor:"3,keyasint,omitempty"`
}

// A ReservationChange is what an alteration makes of the times and the select.
type ReservationChange struct {
	Start     pbs.Time          `cbor:"1,keyasint"`
	End       pbs.Time          `cbor:"2,keyasint"`
	Resources resource.List     `cbor:"3,keyasint"`
	Select    string            `cbor:"4,keyasint"` // schedselect
	Back      ReservationStatus `cbor:"5,keyasint"` // what it was, and is again when the change is denied
	Attrs     attr.List         `cbor:"6,keyasint"` // all others, with those that were changed
}

// A ReservationStatus is a state with its substate.
type ReservationStatus struct {
	State    pbs.ReservationState `cbor:"1,keyasint"`
	Substate pbs.ReservationState `cbor:"2,keyasint"`
}

// Status returns the state and the substate.
func (r *Reservation) Status() ReservationStatus { return ReservationStatus{r.State, r.Substate} }

// Nodes returns resv_nodes: the vnodes of the present or next occurrence.
func (r *Reservation) Nodes() spec.ExecVnode { return r.Occurrences[0].Nodes }

// Taken returns the vnodes of the present or next occurrence that a maintenance has.
func (r *Reservation) Taken() []pbs.VnodeName { return r.Occurrences[0].Taken }

// Index returns the number of the present or next occurrence, from 1.
func (r *Reservation) Index() int { return r.Count - len(r.Occurrences) + 1 }

// Maintenance reports whether it takes hosts whatever runs there: pbs_rsub --hosts.
func (r *Reservation) Maintenance() bool { return r.ID.Kind() == pbs.ResvMaintenance }

// Started reports whether its vnodes are assigned to it: from the start of an occurrence until the last job of it has left.
func (r *Reservation) Started() bool {
	return r.Running() || r.State == pbs.ResvDeletingJobs || r.State == pbs.ResvBeingDeleted
}

// Before reports whether it was confirmed, or given its present vnodes, before another one.
func (r *Reservation) Before(o *Reservation) bool {
	return cmp.Or(cmp.Compare(r.Granted, o.Granted), cmp.Compare(r.Seq, o.Seq)) < 0
}

// Running reports whether jobs of it may start.
func (r *Reservation) Running() bool {
	return r.State == pbs.ResvRunning || r.State == pbs.ResvBeingAltered && r.Ask.Back.State == pbs.ResvRunning
}

// Placement returns how it wants to be placed.
func (r *Reservation) Placement() spec.Place {
	text, _ := r.Resources.Get("place")
	p, err := spec.ParsePlace(text)
	if err != nil {
		return spec.Place{}
	}
	return p
}

// Undecided reports whether the scheduler has to answer: of a new one, of an alteration, and of one that is degraded and
// whose time to look for other vnodes has come. Of one that is on its way out there is nothing to ask.
func (r *Reservation) Undecided(now pbs.Time) bool {
	switch r.State {
	case pbs.ResvBeingDeleted, pbs.ResvDeletingJobs:
		return false
	case pbs.ResvUnconfirmed:
		return !r.Void
	case pbs.ResvBeingAltered:
		return true
	}
	return r.Retry != 0 && r.Retry <= now
}

// Times returns the start and the end of the n-th of Occurrences.
func (r *Reservation) Times(n int) (start, end pbs.Time) {
	if n == 0 {
		return r.Start, r.End
	}
	start = r.Occurrences[n].Start
	return start, start + r.Length
}

// Assignments yields the vnodes of all occurrences in their order, once for those in a row that have the same.
func (r *Reservation) Assignments(yield func(spec.ExecVnode) bool) {
	var last spec.ExecVnode
	for i := range r.Occurrences {
		if nodes := r.Occurrences[i].Nodes; !nodes.Equal(last) {
			if last = nodes; !yield(nodes) {
				return
			}
		}
	}
}

// share lets occurrences in a row that have the same vnodes have one list of them in memory.
func (r *Reservation) share() {
	for i := range r.Occurrences[min(1, len(r.Occurrences)):] {
		if before := r.Occurrences[i].Nodes; r.Occurrences[i+1].Nodes.Equal(before) {
			r.Occurrences[i+1].Nodes = before
		}
	}
}

// Reservation returns the reservation with the id.
func (t *tables) Reservation(id pbs.ReservationID) (*Reservation, bool) {
	if t.reservations.count() == 0 {
		return nil, false
	}
	r, ok := t.reservations.get(&Reservation{ID: id, Seq: id.Seq()})
	if !ok || r.ID != id { // the number alone may be that of a job
		return nil, false
	}
	return r, true
}

// ReservationOf returns the reservation whose queue has the name.
func (t *tables) ReservationOf(queue pbs.QueueName) (*Reservation, bool) {
	q, ok := t.Queue(queue)
	if !ok || q.Reservation == "" {
		return nil, false
	}
	return t.Reservation(q.Reservation)
}

// Reservations yields all in the order of their creation.
func (t *tables) Reservations() iter.Seq[*Reservation] { return t.reservations.all() }

// ReservationsChanged yields the reservations that entries after index changed, in the order of these.
func (t *tables) ReservationsChanged(index uint64) iter.Seq[*Reservation] {
	return t.amended.from(&Reservation{Modified: index + 1})
}

// ReservationCount returns the number of reservations.
func (t *tables) ReservationCount() int { return t.reservations.count() }

// PutReservation stores a reservation.
func (tx *Tx) PutReservation(r *Reservation) {
	r.Modified, r.Changed = tx.index, tx.Now()
	old, delta := tx.reservations.put(r)
	tx.digest += delta
	tx.indexReservation(old, r)
	if old != nil && old.State != pbs.ResvUnconfirmed && !old.Well() && r.Well() {
		tx.touchPromised(r)
	}
}

// touchPromised has the vnodes of all occurrences of a reservation looked at again: of later ones there may be less than is promised, now
// that it counts again.
func (tx *Tx) touchPromised(r *Reservation) {
	for nodes := range r.Assignments {
		for _, name := range nodes.Vnodes() {
			tx.touchVnode(name)
		}
	}
}

// DeleteReservation removes one that is over. Its queue is the caller's to remove.
func (tx *Tx) DeleteReservation(r *Reservation) {
	old, delta := tx.reservations.remove(r)
	tx.digest += delta
	tx.indexReservation(old, nil)
}

// Insiders yields the jobs in a reservation that are not over.
func (t *tables) Insiders(id pbs.ReservationID) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := range t.insiders.from(&Job{Reservation: id}) {
			if j.Reservation != id || !yield(j) {
				return
			}
		}
	}
}

// Occupied reports whether a job of the reservation is on vnodes.
func (t *tables) Occupied(id pbs.ReservationID) bool {
	for j := range t.Insiders(id) {
		if j.Live() {
			return true
		}
	}
	return false
}
