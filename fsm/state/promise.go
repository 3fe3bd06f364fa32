package state

import (
	"cmp"
	"iter"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A Promise is what an occurrence of a reservation has of a vnode.
type Promise struct {
	Reservation *Reservation
	Vnode       pbs.VnodeName
	Occurrence  int // in Reservation.Occurrences
	From, Until pbs.Time
	Items       resource.List
	Alone, Host bool // it wants the vnode, or its whole host, for itself
}

// Overlaps reports whether the promise has an instant in common with a period; periods that touch have none.
func (p *Promise) Overlaps(from, until pbs.Time) bool { return p.From < until && from < p.Until }

// promises returns what the reservation has, by vnode and occurrence. Of one that is being deleted they end when its jobs
// have left, so they count as they are.
func (r *Reservation) promises(t *tables) []*Promise {
	var all []*Promise
	place := r.Placement()
	for n := range r.Occurrences {
		nodes, err := spec.ParseExecVnode(r.Occurrences[n].Nodes)
		if r.Occurrences[n].Nodes == "" || err != nil {
			continue
		}
		from, until := r.Times(n)
		first := len(all)
		for _, ch := range nodes {
			for _, part := range ch.Parts {
				i := slices.IndexFunc(all[first:], func(p *Promise) bool { return p.Vnode == part.Vnode })
				if i < 0 {
					all = append(all, &Promise{
						Reservation: r, Vnode: part.Vnode, Occurrence: n, From: from, Until: until, Items: part.Items,
						Alone: place.Sharing == spec.Exclusive || place.Sharing == spec.ExclusiveHost, Host: place.Sharing == spec.ExclusiveHost,
					})
					continue
				}
				if sum, err := resource.Add(all[first+i].Items, part.Items, t); err == nil {
					all[first+i].Items = sum
				}
			}
		}
	}
	return all
}

func (p *Promise) compare(o *Promise) int {
	return cmp.Or(cmp.Compare(p.Vnode, o.Vnode), cmp.Compare(p.Reservation.Seq, o.Reservation.Seq), cmp.Compare(p.Occurrence, o.Occurrence))
}

// PromisesOf yields what reservations have, or are to have, of a vnode.
func (t *tables) PromisesOf(v pbs.VnodeName) iter.Seq[*Promise] {
	return func(yield func(*Promise) bool) {
		for p := range t.promised.from(&Promise{Vnode: v, Reservation: &Reservation{}}) {
			if p.Vnode != v || !yield(p) {
				return
			}
		}
	}
}

// Promises yields what reservations have, or are to have, of all vnodes, by vnode.
func (t *tables) Promises() iter.Seq[*Promise] { return t.promised.all() }

// indexReservation brings what follows from a reservation up to date.
func (tx *Tx) indexReservation(old, r *Reservation) {
	if r != nil {
		r.due = r.next()
	}
	tx.moments.move(old, r, func(*Reservation) bool { return true })
	if old != nil {
		for _, p := range old.promises(&tx.tables) {
			tx.promised.drop(p)
		}
	}
	if r != nil {
		for _, p := range r.promises(&tx.tables) {
			tx.promised.set(p)
		}
	}
}

func (tx *Tx) touchVnode(name pbs.VnodeName) {
	for range tx.PromisesOf(name) {
		tx.touchedVnodes = append(tx.touchedVnodes, name)
		return
	}
}

func (tx *Tx) touchReservation(j *Job) {
	if j != nil && j.Reservation != "" && !slices.Contains(tx.touchedReservations, j.Reservation) {
		tx.touchedReservations = append(tx.touchedReservations, j.Reservation)
	}
}

// Touched returns the promised vnodes whose conditions, and the reservations whose jobs have changed since it was asked last.
func (tx *Tx) Touched() ([]pbs.VnodeName, []pbs.ReservationID) {
	vnodes, reservations := tx.touchedVnodes, tx.touchedReservations
	tx.touchedVnodes, tx.touchedReservations = nil, nil
	return vnodes, reservations
}
