package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

func (t *tables) checkReservations() error {
	var errs []error
	for r := range t.Reservations() {
		q, ok := t.Queue(r.ID.Queue())
		if !ok || q.Reservation != r.ID {
			errs = append(errs, fmt.Errorf("reservation %s has no queue of its own", r.ID))
		}
		if len(r.Occurrences) == 0 {
			errs = append(errs, fmt.Errorf("reservation %s has no occurrence", r.ID))
		}
	}
	return errors.Join(errs...)
}

// checkAllPromises verifies L15. It is no part of CheckContent: a state that breaks it can be read back, and mended.
func (t *tables) checkAllPromises() error {
	var errs []error
	var all []*Promise // of one vnode
	for p := range t.Promises() {
		if len(all) > 0 && all[0].Vnode != p.Vnode {
			errs = append(errs, t.checkPromises(all[0].Vnode, all))
			all = nil
		}
		if p.Reservation.Well() {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		errs = append(errs, t.checkPromises(all[0].Vnode, all))
	}
	return errors.Join(errs...)
}

// Well reports whether a reservation is to get what it was promised: none is that has lost vnodes, and a maintenance, or one
// that was forced, may take what others have.
func (r *Reservation) Well() bool {
	return !r.Maintenance() && !r.Forced && (r.State == pbs.ResvConfirmed || r.State == pbs.ResvRunning && r.Substate == pbs.ResvRunning)
}

// OverPromised reports whether less is available of a vnode than reservations are to have of it.
func (t *tables) OverPromised(v *Vnode) bool {
	var all []*Promise
	for p := range t.PromisesOf(v.Name) {
		if p.Reservation.Well() {
			all = append(all, p)
		}
	}
	return t.shortOf(v, all) != nil
}

// checkPromises verifies that a vnode has at all times what is promised of it (L15).
func (t *tables) checkPromises(name pbs.VnodeName, all []*Promise) error {
	v, ok := t.Vnode(name)
	if ok && v.OverPromised {
		return nil
	}
	if !ok {
		return fmt.Errorf("reservation %s has vnode %s, which is none", all[0].Reservation.ID, name)
	}
	return t.shortOf(v, all)
}

// shortOf tells what a vnode lacks of what is promised of it.
func (t *tables) shortOf(v *Vnode, all []*Promise) error {
	name := v.Name
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Promise) int { return cmp.Compare(a.From, b.From) })
	var under []*Promise // those that have begun, and are not over
	for i, at := range all {
		if under = append(under, at); i+1 < len(all) && all[i+1].From == at.From {
			continue
		}
		under = slices.DeleteFunc(under, func(p *Promise) bool { return p.Until <= at.From })
		var sum resource.List
		var alone pbs.ReservationID
		held := 0
		for _, p := range under {
			if held++; p.AloneOn(v) {
				alone = p.Reservation.ID
			}
			if more, err := resource.Add(sum, v.Own(p.Items), t); err == nil {
				sum = more
			}
		}
		if short := resource.Fits(sum, v.Available(), nil, t); short != nil {
			return fmt.Errorf("vnode %s is promised more than it has at %d (L15): %w", name, at.From.Unix(), short)
		}
		if alone != "" && held > 1 {
			return fmt.Errorf("vnode %s is promised to %s alone at %d, and to others (L15)", name, alone, at.From.Unix())
		}
	}
	return nil
}

// checkReserved verifies that the reservation that holds a share of a vnode has begun.
func (t *tables) checkReserved(v *Vnode, share alloc.Reserved) error {
	r, ok := t.Reservation(share.Reservation)
	switch {
	case !ok:
		return fmt.Errorf("vnode %s is held by %s, which is no reservation", v.Name, share.Reservation)
	case !r.Started():
		return fmt.Errorf("vnode %s is held by %s in state %s", v.Name, share.Reservation, r.State)
	}
	return nil
}

// checkUsed verifies that what reservations count as used of a vnode is what their jobs hold.
func checkUsed(v *Vnode, used map[pbs.ReservationID]resource.List, t resource.Table) error {
	for _, r := range v.Reserved {
		if !resource.Equal(r.Used, used[r.Reservation], t) {
			return fmt.Errorf("vnode %s: %s has %v in use, its jobs hold %v", v.Name, r.Reservation, r.Used, used[r.Reservation])
		}
		delete(used, r.Reservation)
	}
	for id := range used {
		return fmt.Errorf("vnode %s has jobs of %s, which has nothing of it", v.Name, id)
	}
	return nil
}
