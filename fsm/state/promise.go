package state

import (
	"cmp"
	"iter"
	"slices"

	"rampart/fsm/alloc"
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
	*Claim
}

// Overlaps reports whether the promise has an instant in common with a period; periods that touch have none.
func (p *Promise) Overlaps(from, until pbs.Time) bool { return p.From < until && from < p.Until }

// A booking is all that a reservation has, or is to have, of a vnode: what the index keeps, so that a change of a reservation
// with very many occurrences changes an entry for each of its vnodes, and not one for each time.
type booking struct {
	vnode       pbs.VnodeName
	reservation *Reservation
	promises    []*Promise // by occurrence
	longest     pbs.Time   // that one of them lasts
	sorted      bool       // they are by their beginning, too
}

func (b *booking) compare(o *booking) int {
	return cmp.Or(cmp.Compare(b.vnode, o.vnode), cmp.Compare(b.reservation.Seq, o.reservation.Seq))
}

// during yields the promises that overlap with a period.
func (b *booking) during(from, until pbs.Time, yield func(*Promise) bool) bool {
	first := 0
	if b.sorted {
		first, _ = slices.BinarySearchFunc(b.promises, from, func(p *Promise, from pbs.Time) int {
			if p.From+b.longest < from { // it is over by then
				return -1
			}
			return 1
		})
	}
	for _, p := range b.promises[first:] {
		if b.sorted && p.From >= until {
			break
		}
		if p.Overlaps(from, until) && !yield(p) {
			return false
		}
	}
	return true
}

// bookings returns what the reservation has, by vnode in the order of their first use. Of one that is being deleted they end
// when its jobs have left, so they count as they are.
func (r *Reservation) bookings(t *tables) []*booking {
	var all []*booking
	claim := r.Claim()
	at := map[pbs.VnodeName]*booking{}
	var last spec.ExecVnode
	var shares []spec.ExecPart // of last, which most occurrences share with the one before
	var room []Promise
	for n := range r.Occurrences {
		if nodes := r.Occurrences[n].Nodes; !nodes.Equal(last) {
			last = nodes
			shares, _ = alloc.ByVnode(nodes, t) // what cannot be summed up was refused
		}
		from, until := r.Times(n)
		if len(room) < len(shares) {
			room = make([]Promise, max(len(shares), min(len(shares)*(len(r.Occurrences)-n), mostAtOnce)))
		}
		for i, s := range shares {
			b := at[s.Vnode]
			if b == nil {
				b = &booking{vnode: s.Vnode, reservation: r, sorted: true}
				at[s.Vnode] = b
				all = append(all, b)
			}
			if len(b.promises) > 0 && b.promises[len(b.promises)-1].From > from {
				b.sorted = false
			}
			room[i] = Promise{Reservation: r, Vnode: s.Vnode, Occurrence: n, From: from, Until: until, Items: s.Items, Claim: &claim}
			b.promises, b.longest = append(b.promises, &room[i]), max(b.longest, until-from)
		}
		room = room[len(shares):]
	}
	return all
}

// mostAtOnce is how many promises are made room for at once.
const mostAtOnce = 512

// bookingsOf yields what reservations have, or are to have, of a vnode.
func (t *tables) bookingsOf(v pbs.VnodeName) iter.Seq[*booking] {
	return func(yield func(*booking) bool) {
		for b := range t.promised.from(&booking{vnode: v, reservation: &Reservation{}}) {
			if b.vnode != v || !yield(b) {
				return
			}
		}
	}
}

// PromisesOf yields what reservations have, or are to have, of a vnode.
func (t *tables) PromisesOf(v pbs.VnodeName) iter.Seq[*Promise] {
	return func(yield func(*Promise) bool) {
		for b := range t.bookingsOf(v) {
			for _, p := range b.promises {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// PromisesIn yields what reservations have of a vnode in a period.
func (t *tables) PromisesIn(v pbs.VnodeName, from, until pbs.Time) iter.Seq[*Promise] {
	return func(yield func(*Promise) bool) {
		for b := range t.bookingsOf(v) {
			if !b.during(from, until, yield) {
				return
			}
		}
	}
}

// ReservationsOn yields the reservations that have, or are to have, something of a vnode.
func (t *tables) ReservationsOn(v pbs.VnodeName) iter.Seq[*Reservation] {
	return func(yield func(*Reservation) bool) {
		for b := range t.bookingsOf(v) {
			if !yield(b.reservation) {
				return
			}
		}
	}
}

// Promises yields what reservations have, or are to have, of all vnodes, by vnode.
func (t *tables) Promises() iter.Seq[*Promise] {
	return func(yield func(*Promise) bool) {
		for b := range t.promised.all() {
			for _, p := range b.promises {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// indexReservation brings what follows from a reservation up to date.
func (tx *Tx) indexReservation(old, r *Reservation) {
	if r != nil {
		r.due = r.next()
	}
	tx.moments.move(old, r, func(*Reservation) bool { return true })
	tx.amended.move(old, r, func(*Reservation) bool { return true })
	var now []*booking
	if r != nil {
		now = r.bookings(&tx.tables)
	}
	if old != nil {
		stays := map[pbs.VnodeName]bool{}
		for _, b := range now {
			stays[b.vnode] = true
		}
		for nodes := range old.Assignments {
			for _, name := range nodes.Vnodes() {
				if !stays[name] {
					tx.promised.drop(&booking{vnode: name, reservation: old})
				}
			}
		}
	}
	for _, b := range now {
		tx.promised.set(b)
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
