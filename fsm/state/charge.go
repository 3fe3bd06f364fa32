package state

import (
	"slices"

	"rampart/fsm/resource"
)

// Charge returns the vnode with one more share, which is assigned from then on. Whether it fits is the caller's to ask (L3).
func (v *Vnode) Charge(held VnodeJob, t resource.Table) (*Vnode, error) {
	assigned, err := resource.Add(v.Assigned, held.Items, t)
	if err != nil {
		return nil, err
	}
	next := *v
	next.Assigned, next.Jobs = assigned, append(slices.Clip(v.Jobs), held)
	return &next, nil
}

// GiveBack returns the vnode without the share at a place in Jobs: it takes back what Charge has done.
func (v *Vnode) GiveBack(at int, t resource.Table) (*Vnode, error) {
	assigned, err := resource.Sub(v.Assigned, v.Jobs[at].Items, t)
	if err != nil {
		return nil, err
	}
	next := *v
	next.Assigned, next.Jobs = assigned, slices.Delete(slices.Clone(v.Jobs), at, at+1)
	return &next, nil
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
