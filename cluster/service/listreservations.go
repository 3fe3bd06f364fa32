package service

import (
	"errors"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
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
				l.reservation(v, p, r)
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
				l.reservation(v, p, r)
			}
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reservation adds a reservation, with as many of its occurrences as are wanted.
func (l *listing) reservation(v *state.View, p *page, r *state.Reservation) {
	p.add(string(r.ID), p.fields.of(v.ReservationAttributes(r), v))
	object := p.objects[len(p.objects)-1]
	for n := 1; n < len(r.Occurrences); n++ {
		start, end := r.Times(n)
		if start.Unix() >= l.req.GetOccurrencesUntil() {
			return
		}
		object.Occurrences = append(object.Occurrences, &api.Occurrence{Start: start.Unix(), End: end.Unix(), Nodes: r.Occurrences[n].Nodes.String()})
		p.values++
	}
}
