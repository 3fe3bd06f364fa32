package service

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// reservationID reads an identifier. A server in it may go by any of its names.
func reservationID(v *state.View, text string) (pbs.ReservationID, error) {
	id, err := pbs.ParseReservationID(text, v.Cluster().Name)
	if err != nil {
		return "", err
	}
	_, server, _ := strings.Cut(string(id), ".")
	if !isAlias(v, server) {
		return id, nil
	}
	return pbs.NewReservationID(id.Kind(), id.Seq(), v.Cluster().Name), nil
}

// reservationOf finds the reservation that a user named.
func reservationOf(v *state.View, text string) (*state.Reservation, error) {
	id, err := reservationID(v, text)
	if err != nil {
		return nil, err
	}
	_, server, _ := strings.Cut(text, "@")
	r, ok := v.Reservation(id)
	if !ok || r.ID != id || !isAlias(v, server) {
		return nil, &noted{pbs.Refuse(pbs.UnknownReservation), pbs.LogDebug, "Resv", string(id), []string{pbs.UnknownReservation.Text()}}
	}
	return r, nil
}

// changeable finds a reservation for somebody who is to have the permission to change it: its owner, Operators, Managers.
func changeable(p person, text string, request int) (*state.Reservation, error) {
	r, err := reservationOf(p.view, text)
	if err != nil {
		return nil, err
	}
	own := p.user.Name != "" && p.user.Name == r.Owner.Name && (p.user.Host == r.Owner.Host || p.view.Server().Bool("flatuid"))
	if p.perm >= attr.Operator || own {
		return r, nil
	}
	return nil, denyReservation(p, r, request)
}

func denyReservation(p person, r *state.Reservation, request int) error {
	return deny(p, "Resv", "RESCRESV", string(r.ID), request)
}

// DeleteReservation removes a reservation with its jobs and its queue: pbs_rdel.
func (rs *reservations) DeleteReservation(ctx context.Context, r *connect.Request[api.DeleteReservationRequest]) (*connect.Response[api.DeleteReservationReply], error) {
	_, err := rs.change(ctx, r, func(p person) ([]command.Command, error) {
		resv, err := changeable(p, r.Msg.GetReservation(), typeDropResv)
		if err != nil {
			return nil, err
		}
		return []command.Command{&command.DeleteReservation{Reservation: resv.ID}}, nil
	})
	return reply(&api.DeleteReservationReply{}, err)
}

// AlterReservation changes a reservation, and waits for the decision if that is wished: pbs_ralter.
func (rs *reservations) AlterReservation(ctx context.Context, r *connect.Request[api.AlterReservationRequest]) (*connect.Response[api.AlterReservationReply], error) {
	var before *state.Reservation // nil: it is a repeat
	changes := r.Msg.GetChanges()
	_, err := rs.change(ctx, r, func(p person) ([]command.Command, error) {
		resv, err := changeable(p, r.Msg.GetReservation(), typeAlterResv)
		if err != nil {
			return nil, err
		}
		if err := mayForce(p, resv, r.Msg); err != nil {
			return nil, err
		}
		before = resv
		if changes, err = rs.alterHooks(ctx, p, resv, r.Msg.GetChanges()); err != nil {
			return nil, err
		}
		c, err := alteration(p, resv, changes, r.Msg.GetForce())
		return []command.Command{c}, err
	})
	if before != nil && pbs.CodeOf(err) == pbs.ResvInterferes { // found by who applies it, whose events are dropped with the refusal
		err = rs.told(ctx, &noted{err, pbs.LogResv, "Resv", string(before.ID), []string{pbs.ResvInterferes.Text()}})
	}
	if err != nil {
		return nil, err
	}
	outcome, err := rs.altered(ctx, r.Msg.GetReservation(), changes, before)
	return reply(&api.AlterReservationReply{Outcome: outcome}, err)
}

// mayForce permits to Managers alone a change that looks at no others.
func mayForce(p person, resv *state.Reservation, r *api.AlterReservationRequest) error {
	if r.GetForce() && p.perm < attr.Manager {
		return denyReservation(p, resv, typeAlterResv)
	}
	return nil
}

// alteration returns the command of a change.
func alteration(p person, resv *state.Reservation, changes []*api.Attribute, force bool) (*command.AlterReservation, error) {
	c := &command.AlterReservation{Reservation: resv.ID, Force: force}
	var t times
	for _, a := range changes {
		took, err := t.take(a)
		if err != nil {
			return nil, err
		}
		if took {
			continue
		}
		ch, err := parseChange(p, attr.Reservation, a)
		if err != nil {
			return nil, err
		}
		switch def, _ := attr.Lookup(attr.Reservation, ch.Entry.Name); {
		case ch.Entry.Name == "interactive":
		case def.OnCreate:
			return nil, pbs.Attribute(pbs.ReadOnlyAttribute, def.Full(ch.Entry.Resource))
		case ch.Op != command.OpSet && ch.Op != command.OpUnset:
			return nil, pbs.Refuse(pbs.InvalidRequest)
		case def.Name == "Resource_List" && (ch.Entry.Resource != "select" || ch.Op != command.OpSet):
			return nil, pbs.Refuse(pbs.NotSupported)
		default:
			c.Changes = append(c.Changes, ch)
		}
	}
	if force && t == (times{}) {
		return nil, pbs.Refuse(pbs.NotSupported)
	}
	c.Start, c.End, c.Length = t.start.at, t.end.at, t.length.at
	if t.start.given && c.Start == 0 || t.end.given && c.End == 0 { // the epoch, which would be left as it is
		return nil, pbs.Refuse(pbs.BadTimes)
	}
	return c, nil
}

// altered returns what has become of a change, after the wait that was asked for.
func (rs *reservations) altered(ctx context.Context, name string, changes []*api.Attribute, before *state.Reservation) (api.ReservationOutcome, error) {
	wait, wanted := number(valueOf(changes, "interactive")), newWanted(changes)
	switch {
	case wait <= 0:
		return 0, nil
	case !wanted.decided():
		return confirmed, nil
	}
	v, err := rs.present(ctx)
	if err != nil {
		return 0, err
	}
	id, err := reservationID(v, name)
	if err != nil {
		return 0, err
	}
	defer transport.Working(ctx)()
	until, asked := pbs.Time(0), rs.now()
	return rs.awaitReservation(ctx, id, func(r *state.Reservation) (api.ReservationOutcome, pbs.Time) {
		switch {
		case r == nil && wanted.over(before, rs.now()):
			return confirmed, 0
		case r == nil:
			return refusedToFit, 0
		case r.State == pbs.ResvBeingAltered, r.State == pbs.ResvUnconfirmed:
			if until == 0 { // from the change on, so that a repeat waits for what is left
				until = min(r.Changed, asked) + pbs.Time(wait*1e9)
			}
			if r.Ask != nil { // with what hooks have made of it
				wanted = wantedOf(r.Ask)
			}
			return 0, until
		case wanted.granted(r):
			return confirmed, 0
		}
		return refusedToFit, 0
	})
}

// wanted holds what a reservation becomes by a change that the scheduler decides.
type wanted struct {
	times
	sel string
}

func newWanted(changes []*api.Attribute) wanted {
	var w wanted
	for _, a := range changes {
		def, ok := attr.Find(attr.Reservation, a.GetName())
		if took, _ := w.take(a); !took && ok && def.Full(a.GetResource()) == "Resource_List.select" {
			w.sel = a.GetValue()
		}
	}
	return w
}

func wantedOf(ask *state.ReservationChange) wanted {
	sel, _ := ask.Resources.Get("select")
	return wanted{times{start: moment{ask.Start, true}, end: moment{ask.End, true}}, sel}
}

// decided reports whether the change is one of those that the scheduler decides.
func (w wanted) decided() bool {
	return w.start.given || w.end.given || w.length.given || w.sel != ""
}

// granted reports whether a reservation is as was wished.
func (w wanted) granted(r *state.Reservation) bool {
	sel, _ := r.Resources.Get("select")
	return (!w.start.given || w.start.at == r.Start) && (!w.end.given || w.end.at == r.End) &&
		(!w.length.given || w.length.at == r.End-r.Start) && (w.sel == "" || sameSelect(w.sel, sel))
}

// over reports whether a reservation that is gone has ended by the change: at an end that had passed.
func (w wanted) over(before *state.Reservation, now pbs.Time) bool {
	if before == nil || before.State == pbs.ResvUnconfirmed {
		return false
	}
	end := before.End
	switch {
	case w.end.given:
		end = w.end.at
	case w.length.given && w.start.given:
		end = w.start.at + w.length.at
	case w.length.given:
		end = before.Start + w.length.at
	}
	return end.Unix() <= now.Unix()
}

func sameSelect(a, b string) bool {
	x, err := spec.ParseSelect(a)
	if err != nil {
		return false
	}
	y, err := spec.ParseSelect(b)
	return err == nil && x.String() == y.String()
}
