package state

import (
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Charge returns the vnode with one more share, which is assigned from then on (alloc.Account.Charge). Whether it fits is the
// caller's to ask (L3).
func (v *Vnode) Charge(held VnodeJob, t resource.Table) (*Vnode, error) {
	account, err := v.Account.Charge(held.Items, held.Reservation, t)
	if err != nil {
		return nil, err
	}
	next := v.with(account)
	next.Jobs = append(slices.Clip(v.Jobs), held)
	return next, nil
}

// GiveBack returns the vnode without the share at a place in Jobs: it takes back what Charge has done.
func (v *Vnode) GiveBack(at int, t resource.Table) (*Vnode, error) {
	account, err := v.Account.GiveBack(v.Jobs[at].Items, v.Jobs[at].Reservation, t)
	if err != nil {
		return nil, err
	}
	next := v.with(account)
	next.Jobs = slices.Delete(slices.Clone(v.Jobs), at, at+1)
	return next, nil
}

// with returns the vnode with another account.
func (v *Vnode) with(account alloc.Account) *Vnode {
	next := *v
	next.Account = account
	return &next
}

// Reserve returns the vnode with the share of a reservation that begins.
func (v *Vnode) Reserve(share alloc.Reserved, t resource.Table) (*Vnode, error) {
	account, err := v.Account.Reserve(share, t)
	if err != nil {
		return nil, err
	}
	return v.with(account), nil
}

// Unreserve returns the vnode without the share of a reservation of which no job is left there.
func (v *Vnode) Unreserve(id pbs.ReservationID, t resource.Table) (*Vnode, error) {
	if _, ok := v.ReservedFor(id); !ok {
		return v, nil
	}
	account, err := v.Account.Unreserve(id, t)
	if err != nil {
		return nil, err
	}
	return v.with(account), nil
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
	request = share.Within(request)
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
