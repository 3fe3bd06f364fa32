package state

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Charge returns the vnode with one more share, which is assigned from then on: of a job in a reservation to the
// reservation, which has its amounts already; what the reservation does not name counts beside them (Charged). Whether it
// fits is the caller's to ask (L3).
func (v *Vnode) Charge(held VnodeJob, t resource.Table) (*Vnode, error) {
	next, err := v.count(held, t, resource.Add)
	if err != nil {
		return nil, err
	}
	next.Jobs = append(slices.Clip(v.Jobs), held)
	return next, nil
}

// GiveBack returns the vnode without the share at a place in Jobs: it takes back what Charge has done.
func (v *Vnode) GiveBack(at int, t resource.Table) (*Vnode, error) {
	next, err := v.count(v.Jobs[at], t, resource.Sub)
	if err != nil {
		return nil, err
	}
	next.Jobs = slices.Delete(slices.Clone(v.Jobs), at, at+1)
	return next, nil
}

// count returns the vnode with a share added to, or taken from, what is assigned, or what its reservation has in use.
func (v *Vnode) count(held VnodeJob, t resource.Table, change func(a, b resource.List, t resource.Table) (resource.List, error)) (*Vnode, error) {
	next := *v
	var err error
	if at := v.reserved(held.Reservation); at >= 0 {
		next.Reserved = slices.Clone(v.Reserved)
		next.Reserved[at].Used, err = change(v.Reserved[at].Used, held.Items, t)
		return &next, err
	}
	next.Assigned, err = change(v.Assigned, held.Items, t)
	return &next, err
}

// reserved returns the place in Reserved of what a reservation has of the vnode, -1 if it has nothing.
func (v *Vnode) reserved(id pbs.ReservationID) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(v.Reserved, func(r Reserved) bool { return r.Reservation == id })
}

// ReservedFor returns what a reservation that has begun has of the vnode.
func (v *Vnode) ReservedFor(id pbs.ReservationID) (Reserved, bool) {
	at := v.reserved(id)
	if at < 0 {
		return Reserved{}, false
	}
	return v.Reserved[at], true
}

// Reserve returns the vnode with the share of a reservation that begins. The shares of its jobs that run there already, of
// one that is made of a job, are charged to it from then on.
func (v *Vnode) Reserve(share Reserved, t resource.Table) (*Vnode, error) {
	next := *v
	var err error
	if next.Assigned, err = resource.Add(v.Assigned, share.Items, t); err != nil {
		return nil, err
	}
	next.Reserved = append(slices.Clip(v.Reserved), share)
	return &next, nil
}

// Unreserve returns the vnode without the share of a reservation of which no job is left there.
func (v *Vnode) Unreserve(id pbs.ReservationID, t resource.Table) (*Vnode, error) {
	at := v.reserved(id)
	if at < 0 {
		return v, nil
	}
	next := *v
	var err error
	if next.Assigned, err = resource.Sub(v.Assigned, v.Reserved[at].Items, t); err != nil {
		return nil, err
	}
	next.Reserved = slices.Delete(slices.Clone(v.Reserved), at, at+1)
	return &next, nil
}

// Names reports whether a resource is one of those of which the reservation has an amount, be it none.
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

// within returns the items of held that the reservation names.
func (r Reserved) within(held resource.List) resource.List {
	if len(r.Beyond(held)) == 0 {
		return held
	}
	return slices.DeleteFunc(slices.Clone(held), func(it resource.Item) bool { return !r.Names(it.Name) })
}

// Charged returns what nobody else can have of a vnode: what is assigned to jobs and to reservations that have begun, and
// what jobs of those use of resources that their reservation does not name.
func (v *Vnode) Charged(t resource.Table) resource.List {
	sum := v.Assigned
	for _, r := range v.Reserved {
		if more, err := resource.Add(sum, r.Beyond(r.Used), t); err == nil {
			sum = more
		}
	}
	return sum
}

// ShortFor is Short for a job of a reservation: what the reservation has of the vnode must suffice beside what its jobs use,
// and so must the vnode, which it may share with jobs that ran there before (a maintenance, or one that was forced). Of what
// the reservation does not name the job takes what the vnode has left.
func (t *tables) ShortFor(v *Vnode, id pbs.ReservationID, request resource.List, promised Promised) *resource.Shortage {
	if id == "" {
		return t.Short(v, request, promised)
	}
	share, ok := v.ReservedFor(id)
	if !ok {
		return resource.Fits(request, nil, nil, t)
	}
	rest := share.Beyond(request)
	request = share.within(request)
	used, err := resource.Add(share.Used, promised[v.Name], t)
	if err != nil {
		return &resource.Shortage{}
	}
	if short := resource.Fits(request, share.Items, used, t); short != nil {
		return short
	}
	if used, err = resource.Add(t.inJobs(v), promised[v.Name], t); err != nil {
		return &resource.Shortage{}
	}
	if short := resource.Fits(v.Own(request), v.Available(), used, t); short != nil {
		return short
	}
	if short := t.Short(v, rest, promised); short != nil {
		return short
	}
	if sum, err := resource.Add(promised[v.Name], request, t); err == nil {
		promised[v.Name] = sum
	}
	return nil
}

// inJobs returns what jobs use of a vnode, whoever is charged for it.
func (t *tables) inJobs(v *Vnode) (sum resource.List) {
	for _, held := range v.Jobs {
		if more, err := resource.Add(sum, v.Own(t.Holds(held, t.clock())), t); err == nil {
			sum = more
		}
	}
	return sum
}

// Exchange returns the vnode with another share in the place of one: what a run holds after a release, and while it is
// suspended, is less than what it was charged with.
func (v *Vnode) Exchange(at int, held VnodeJob, t resource.Table) (*Vnode, error) {
	less, err := v.GiveBack(at, t)
	if err != nil {
		return nil, err
	}
	next, err := less.Charge(held, t)
	if err != nil {
		return nil, err
	}
	next.Jobs = slices.Clone(v.Jobs) // in their order
	next.Jobs[at] = held
	return next, nil
}

// PutSettled stores a vnode of which something was given back: more may have been assigned than there was, and be no longer.
func (tx *Tx) PutSettled(v *Vnode) {
	v.OverCommitted = v.OverCommitted && tx.Exceeded(v) != nil
	tx.PutVnode(v)
}
