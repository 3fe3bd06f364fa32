package service

import (
	"errors"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// reservations lists the named reservations, or all in the order of their creation.
func (l *listing) reservations() error {
	if len(l.req.GetNames()) > 0 {
		return l.once(func(v *state.View, p *page) {
			for _, name := range l.req.GetNames() {
				r, err := reservationOf(v, name)
				if refusal, ok := errors.AsType[*pbs.Error](err); ok {
					p.refuseWith(name, refusal)
					continue
				}
				p.add(string(r.ID), p.fields.of(v.ReservationAttributes(r), v))
			}
		})
	}
	next, more := uint64(0), true
	for more {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			for r := range v.Reservations() {
				if r.Seq < next {
					continue
				}
				if p.full() {
					return true
				}
				next = r.Seq + 1
				p.add(string(r.ID), p.fields.of(v.ReservationAttributes(r), v))
			}
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}
