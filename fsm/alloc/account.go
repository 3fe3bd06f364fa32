package alloc

import (
	"iter"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// An Account is what is charged of a vnode, whoever has it. Nobody writes to one: each change returns another.
type Account struct {
	Assigned resource.List `cbor:"7,keyasint,omitempty"`  // consumables in use
	Reserved []Reserved    `cbor:"21,keyasint,omitempty"` // what reservations that have begun hold, in the order of their beginning
}

// Reserved is the share of a vnode that a reservation has whose time has come. It is assigned as a whole; jobs of the
// reservation are charged to it, and to the vnode with what it has no amount of.
type Reserved struct {
	Reservation pbs.ReservationID `cbor:"1,keyasint"`
	Items       resource.List     `cbor:"2,keyasint,omitempty"` // consumables charged
	Used        resource.List     `cbor:"3,keyasint,omitempty"` // by its jobs, of these and of others
	Exclusive   bool              `cbor:"4,keyasint,omitempty"`
}

// Charge returns the account with items that a run takes: one in a reservation takes them of the reservation, which has its
// amounts already; what the reservation does not name counts beside them (Charged). Whether they fit is the caller's to ask (L3).
func (a Account) Charge(items resource.List, of pbs.ReservationID, t resource.Table) (Account, error) {
	return a.count(items, of, t, resource.Add)
}

// GiveBack returns the account without items of a run: it takes back what Charge has done.
func (a Account) GiveBack(items resource.List, of pbs.ReservationID, t resource.Table) (Account, error) {
	return a.count(items, of, t, resource.Sub)
}

func (a Account) count(items resource.List, of pbs.ReservationID, t resource.Table, change func(a, b resource.List, t resource.Table) (resource.List, error)) (Account, error) {
	var err error
	if at := a.reserved(of); at >= 0 {
		used, err := change(a.Reserved[at].Used, items, t)
		if err != nil {
			return a, err
		}
		a.Reserved = slices.Clone(a.Reserved)
		a.Reserved[at].Used = used
		return a, nil
	}
	next := a
	if next.Assigned, err = change(a.Assigned, items, t); err != nil {
		return a, err
	}
	return next, nil
}

// Reserve returns the account with the share of a reservation that begins. The shares of its jobs that run there already, of
// one that is made of a job, are charged to it from then on.
func (a Account) Reserve(share Reserved, t resource.Table) (Account, error) {
	sum, err := resource.Add(a.Assigned, share.Items, t)
	if err != nil {
		return a, err
	}
	return Account{sum, append(slices.Clip(a.Reserved), share)}, nil
}

// Unreserve returns the account without the share of a reservation of which no job is left there.
func (a Account) Unreserve(id pbs.ReservationID, t resource.Table) (Account, error) {
	at := a.reserved(id)
	if at < 0 {
		return a, nil
	}
	rest, err := resource.Sub(a.Assigned, a.Reserved[at].Items, t)
	if err != nil {
		return a, err
	}
	return Account{rest, slices.Delete(slices.Clone(a.Reserved), at, at+1)}, nil
}

// reserved returns the place in Reserved of what a reservation has, -1 if it has nothing.
func (a Account) reserved(id pbs.ReservationID) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(a.Reserved, func(r Reserved) bool { return r.Reservation == id })
}

// ReservedFor returns what a reservation that has begun has.
func (a Account) ReservedFor(id pbs.ReservationID) (Reserved, bool) {
	at := a.reserved(id)
	if at < 0 {
		return Reserved{}, false
	}
	return a.Reserved[at], true
}

// ReservedAlone reports whether a reservation that has begun has the whole vnode.
func (a Account) ReservedAlone() bool {
	return slices.ContainsFunc(a.Reserved, func(r Reserved) bool { return r.Exclusive })
}

// Charged returns what nobody else can have: what is assigned to jobs and to reservations that have begun, and what jobs of
// those use of resources that their reservation does not name.
func (a Account) Charged(t resource.Table) resource.List {
	sum := a.Assigned
	for _, r := range a.Reserved {
		if more, err := resource.Add(sum, r.Beyond(r.Used), t); err == nil {
			sum = more
		}
	}
	return sum
}

// ChargedOf yields the amounts that Charged sums up of one resource, for callers that sum numbers.
func (a Account) ChargedOf(name string) iter.Seq[string] {
	return func(yield func(amount string) bool) {
		if amount, ok := a.Assigned.Get(name); ok && !yield(amount) {
			return
		}
		for i := range a.Reserved {
			if amount, ok := a.Reserved[i].Used.Get(name); ok && !a.Reserved[i].Names(name) && !yield(amount) {
				return
			}
		}
	}
}

// Names reports whether the reservation has an amount of the resource, which may be zero.
func (r Reserved) Names(res string) bool {
	_, named := r.Items.Get(res)
	return named
}

// Beyond returns the items of held that the reservation does not name; they are charged to the vnode.
func (r Reserved) Beyond(held resource.List) (rest resource.List) {
	for _, it := range held {
		if !r.Names(it.Name) {
			rest = append(rest, it)
		}
	}
	return rest
}

// Within returns the items of held that the reservation names.
func (r Reserved) Within(held resource.List) resource.List {
	if len(r.Beyond(held)) == 0 {
		return held
	}
	return slices.DeleteFunc(slices.Clone(held), func(it resource.Item) bool { return !r.Names(it.Name) })
}
