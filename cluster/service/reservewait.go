package service

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

const (
	unconfirmed  = api.ReservationOutcome_RESERVATION_OUTCOME_UNCONFIRMED
	confirmed    = api.ReservationOutcome_RESERVATION_OUTCOME_CONFIRMED
	refusedToFit = api.ReservationOutcome_RESERVATION_OUTCOME_DENIED
	expired      = api.ReservationOutcome_RESERVATION_OUTCOME_WAIT_EXPIRED
	failed       = api.ReservationOutcome_RESERVATION_OUTCOME_FAILED
)

// reserved returns what has become of a new reservation, after the wait that was asked for. A repeat of the request comes here
// too, and waits for what is left of that time.
func (rs *reservations) reserved(ctx context.Context, r *api.ReserveRequest, id pbs.ReservationID, made pbs.Time) (api.ReservationOutcome, error) {
	wait, qmove := number(valueOf(r.GetAttributes(), "interactive")), valueOf(r.GetAttributes(), "qmove")
	if qmove != "" && wait == 0 {
		wait = qmoveWait
	}
	switch {
	case len(r.GetHosts()) > 0 || valueOf(r.GetAttributes(), "reserve_job") != "":
		return confirmed, nil
	case wait == 0:
		return unconfirmed, nil
	}
	defer transport.Working(ctx)()
	outcome, err := rs.awaitDecision(ctx, id, wait, made)
	if err != nil || outcome != confirmed || qmove == "" {
		return outcome, err
	}
	return rs.moveInto(ctx, id, qmove)
}

// valueOf returns what a request says of an attribute of reservations.
func valueOf(list []*api.Attribute, name string) string {
	for _, a := range list {
		if def, ok := attr.Find(attr.Reservation, a.GetName()); ok && def.Name == name {
			return a.GetValue()
		}
	}
	return ""
}

// begun returns when a request was made for the first time, by the clock of who made it.
func (rs *reservations) begun(r connect.AnyRequest) pbs.Time {
	if made, ok := pbs.RequestID(r.Header().Get(transport.HeaderRequestID)).Made(); ok {
		return made
	}
	return rs.now()
}

// awaitDecision waits until a new reservation is decided, for as many seconds as were asked for from its submission on. What
// is not decided by then is removed if they are below 0. A client that goes away changes nothing.
func (rs *reservations) awaitDecision(ctx context.Context, id pbs.ReservationID, wait int64, made pbs.Time) (api.ReservationOutcome, error) {
	until, asked := made+pbs.Time(max(wait, -wait)*1e9), rs.now()
	outcome, err := rs.awaitReservation(ctx, id, func(r *state.Reservation) (api.ReservationOutcome, pbs.Time) {
		switch {
		case r == nil && wait < 0 && until.Unix() <= rs.now().Unix(): // an earlier leader has removed it
			return expired, 0
		case r == nil:
			return refusedToFit, 0
		case r.State != pbs.ResvUnconfirmed:
			return confirmed, 0
		}
		until = min(r.Created, asked) + pbs.Time(max(wait, -wait)*1e9) // asked: this clock may be behind that of the log
		return 0, until
	})
	if err != nil || outcome != unconfirmed || wait > 0 {
		return outcome, err
	}
	return rs.expire(ctx, id)
}

// expire removes a reservation that was not decided in time, unless it is by now.
func (rs *reservations) expire(ctx context.Context, id pbs.ReservationID) (api.ReservationOutcome, error) {
	_, err := rs.asServer(ctx, &command.DeleteReservation{Reservation: id, Unconfirmed: true})
	if code := pbs.CodeOf(err); code == pbs.UnknownReservation {
		return refusedToFit, nil
	}
	v, readErr := rs.Replica.Read(ctx, cluster.Fresh)
	if readErr != nil {
		return 0, readErr
	}
	switch r, there := v.Reservation(id); {
	case !there && err == nil:
		return expired, nil
	case !there:
		return refusedToFit, nil
	case r.State != pbs.ResvUnconfirmed: // the decision was sooner
		return confirmed, nil
	}
	return 0, err
}

// asServer proposes what the server does of its own accord.
func (rs *reservations) asServer(ctx context.Context, c command.Command) (state.Result, error) {
	v, err := rs.present(ctx)
	if err != nil {
		return state.Result{}, err
	}
	return rs.commit(ctx, pbs.User{Name: "root", Host: pbs.HostName(v.Cluster().Name)}, c)
}

// awaitReservation waits until decided returns an outcome of a reservation, nil if it is gone, and until when to wait for it.
// It is unconfirmed when the time is over, of which the newest state is asked.
func (rs *reservations) awaitReservation(ctx context.Context, id pbs.ReservationID,
	decided func(r *state.Reservation) (api.ReservationOutcome, pbs.Time),
) (api.ReservationOutcome, error) {
	mode := cluster.Stale
	for {
		changed := rs.Replica.Changed()
		v, err := rs.Replica.Read(ctx, mode)
		if err != nil {
			return 0, err
		}
		r, _ := v.Reservation(id)
		outcome, until := decided(r)
		left := time.Duration(until - rs.now())
		switch {
		case outcome != 0:
			return outcome, nil
		case left <= 0 && mode == cluster.Fresh:
			return unconfirmed, nil
		case left <= 0:
			mode = cluster.Fresh
			continue
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, ctx.Err()
		case <-timer.C:
		case <-changed:
		}
		timer.Stop()
	}
}

// moveInto moves the job of -Wqmove into its confirmed reservation, as its user. If the user may not do that, nobody is to have the reservation.
func (rs *reservations) moveInto(ctx context.Context, id pbs.ReservationID, job string) (api.ReservationOutcome, error) {
	err := rs.moveJob(ctx, id.Queue(), job)
	code := pbs.CodeOf(err)
	switch {
	case err == nil:
		return confirmed, nil
	case code == pbs.SystemError || passes(code): // it says nothing of the job: the request is asked again
		return 0, err
	}
	if _, err := rs.asServer(ctx, &command.DeleteReservation{Reservation: id}); err != nil && pbs.CodeOf(err) != pbs.UnknownReservation {
		return 0, err
	}
	return failed, nil
}

func (rs *reservations) moveJob(ctx context.Context, queue pbs.QueueName, job string) error {
	v, err := rs.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return err
	}
	p, err := rs.person(ctx, v)
	if err != nil {
		return err
	}
	j, err := jobOf(v, job)
	if err != nil {
		return err
	}
	if j.Queue == queue { // by the first of two that ask the same
		return nil
	}
	if err := mayChange(p, j, typeMove); err != nil {
		return rs.told(ctx, err)
	}
	if queue, err = rs.movedTo(ctx, p, j, queue); err != nil {
		return err
	}
	_, err = rs.commit(ctx, p.user, &command.MoveJob{Job: j.ID, Queue: queue, Privileged: p.perm >= attr.Operator})
	return err
}
