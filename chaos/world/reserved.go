package world

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// booked writes down what reservations have become by an entry, and returns the steps of their lives. Whoever replays the past
// comes later than the first who saw it.
func (k *book) booked(v *state.View, e command.Entry, outcomes []command.Outcome) (steps []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v.Index() <= k.lastBooked {
		return nil
	}
	k.lastBooked = v.Index()
	causes, alters := causesIn(e, outcomes)
	there := make(map[string]bool)
	for r := range v.Reservations() {
		id := string(r.ID)
		there[id] = true
		n := slices.IndexFunc(k.bookings, func(b check.Booking) bool { return b.ID == id })
		if n < 0 {
			n = len(k.bookings)
			k.bookings = append(k.bookings, check.Booking{ID: id, Name: r.Name()})
		}
		steps = append(steps, k.seen(n, v, check.Stage{
			State: r.State.Short(), Period: check.Period{Start: r.Start.Unix(), End: r.End.Unix()}, Nodes: r.Nodes().String(), Left: len(r.Occurrences),
			Hurt:  r.State == pbs.ResvDegraded || r.Substate == pbs.ResvDegraded || r.Substate == pbs.ResvInConflict,
			Taken: len(r.Taken()) > 0, Want: wanted(r),
		}, causes[r.ID], alters[r.ID]))
		if s := &k.bookings[n].Stages[len(k.bookings[n].Stages)-1]; s.Due == 0 && overdue(r, v.Now()) {
			s.Due = k.since()
		}
	}
	for n, b := range k.bookings {
		if !there[b.ID] {
			steps = append(steps, k.seen(n, v, check.Stage{}, causes[pbs.ReservationID(b.ID)], alters[pbs.ReservationID(b.ID)]))
		}
		k.bookings[n].Seen = k.since()
	}
	return steps
}

// seen adds what a reservation is, if it was something else before, and returns which step of its life that is. The lock is held.
func (k *book) seen(n int, v *state.View, now check.Stage, by []string, alters []*command.AlterReservation) (step string) {
	b := &k.bookings[n]
	was := check.Stage{}
	if len(b.Stages) > 0 {
		was = b.Stages[len(b.Stages)-1]
	}
	if was.Same(now) {
		return ""
	}
	now.At, now.Index, now.Clock, now.By = k.since(), v.Index(), v.Cluster().Time.Unix(), by
	for _, c := range alters {
		if was.State == "UN" || c.Force {
			was.Period = altered(was.Period, c)
			now.Made = append(now.Made, was.Period)
		}
	}
	b.Stages = append(b.Stages, now)
	return ReservationStep(was, now)
}

// wanted returns the times that an alteration asks for which is not decided.
func wanted(r *state.Reservation) check.Period {
	if r.Ask == nil {
		return check.Period{}
	}
	return check.Period{Start: r.Ask.Start.Unix(), End: r.Ask.End.Unix()}
}

// altered returns what an alteration makes of a period: a start alone keeps the end, and all else the start.
func altered(p check.Period, c *command.AlterReservation) check.Period {
	start, end, length := c.Start.Unix(), c.End.Unix(), c.Length.Unix()
	switch {
	case c.Start == 0 && c.End != 0 && c.Length != 0:
		return check.Period{Start: end - length, End: end}
	case c.Start == 0:
		start = p.Start
	}
	switch {
	case c.Length != 0:
		end = start + length
	case c.End == 0:
		end = p.End
	}
	return check.Period{Start: start, End: end}
}

// overdue reports whether a reservation is to begin or to end by now.
func overdue(r *state.Reservation, now pbs.Time) bool {
	at := r.Start
	switch r.State {
	case pbs.ResvBeingDeleted, pbs.ResvDeletingJobs:
		return false
	case pbs.ResvRunning, pbs.ResvUnconfirmed:
		at = r.End
	case pbs.ResvBeingAltered:
		if r.Ask.Back.State == pbs.ResvRunning {
			at = r.End
		}
	}
	return at != 0 && at <= now
}

// causesIn returns the kinds of commands about each reservation that an entry has and that were not refused, and its alterations.
func causesIn(e command.Entry, outcomes []command.Outcome) (all map[pbs.ReservationID][]string, alters map[pbs.ReservationID][]*command.AlterReservation) {
	all, alters = make(map[pbs.ReservationID][]string), make(map[pbs.ReservationID][]*command.AlterReservation)
	for i, p := range e.Proposals {
		if outcomes[i].Refusal != nil {
			continue
		}
		for _, c := range p.Commands {
			var id pbs.ReservationID
			switch c := c.(type) {
			case *command.Reserve:
				id = outcomes[i].Result.Reservation
			case *command.DecideReservation:
				id = c.Reservation
			case *command.AlterReservation:
				id = c.Reservation
				alters[id] = append(alters[id], c)
			case *command.DeleteReservation:
				id = c.Reservation
			}
			if id != "" {
				all[id] = append(all[id], command.NameOf(c))
			}
		}
	}
	return all, alters
}

// patience is how far ahead a reservation may begin at the end of a run for jobs to wait for it.
const patience = pbs.Time(time.Minute)

// giveBack deletes the reservations that begin long after the end of the run where a job without a walltime waits, for it may wait
// for them: it starts only if it leaves them what they have, and the earliest time for it may be behind them. It tells what it has tried.
func (n resting) giveBack(ctx context.Context, v *state.View) (tried string) {
	if !endlessWaits(v) {
		return ""
	}
	for r := range v.Reservations() {
		if r.Start < v.Now()+patience {
			continue
		}
		tried = "jobs wait for " + string(r.ID)
		if _, err := n.manager.DeleteReservation(ctx, connect.NewRequest(&api.DeleteReservationRequest{Reservation: string(r.ID)})); err != nil {
			tried += ": " + err.Error()
		}
	}
	return tried
}

// endlessWaits reports whether a job waits that has no walltime.
func endlessWaits(v *state.View) bool {
	for j := range v.Jobs() {
		if _, known := j.Resources.Get("walltime"); !known && j.State == pbs.Queued {
			return true
		}
	}
	return false
}

// ahead is how far ahead the reservations are that the world asks for.
const ahead = time.Hour

// reserveOne asks for a reservation of a cpu for a minute, and waits until it is decided.
func reserveOne(ctx context.Context, w *World) (string, error) {
	reply, err := w.manager.Reserve(ctx, connect.NewRequest(&api.ReserveRequest{Attributes: []*api.Attribute{
		{Name: "reserve_start", Value: strconv.FormatInt(time.Now().Add(ahead).Unix(), 10)},
		{Name: "reserve_duration", Value: "60"},
		{Name: "Resource_List", Resource: "select", Value: "1:ncpus=1"},
		{Name: "Reserve_Name", Value: "world's"},
		{Name: "interactive", Value: "20"},
	}}))
	if err != nil {
		return "", err
	}
	if reply.Msg.GetOutcome() != api.ReservationOutcome_RESERVATION_OUTCOME_CONFIRMED {
		return "", pbs.Errorf(pbs.SystemError, "reservation %s: %s", reply.Msg.GetReservation(), strings.ToLower(reply.Msg.GetOutcome().String()))
	}
	return reply.Msg.GetReservation(), nil
}

func reserve(ctx context.Context, w *World) error {
	_, err := reserveOne(ctx, w)
	return err
}

// alterReservation makes a reservation twice as long.
func alterReservation(ctx context.Context, w *World) error {
	id, err := reserveOne(ctx, w)
	if err != nil {
		return err
	}
	reply, err := w.manager.AlterReservation(ctx, connect.NewRequest(&api.AlterReservationRequest{
		Reservation: id, Changes: []*api.Attribute{{Name: "reserve_duration", Value: "120"}, {Name: "interactive", Value: "20"}},
	}))
	if err == nil && reply.Msg.GetOutcome() != api.ReservationOutcome_RESERVATION_OUTCOME_CONFIRMED {
		return pbs.Errorf(pbs.SystemError, "alteration of %s: %s", id, strings.ToLower(reply.Msg.GetOutcome().String()))
	}
	return err
}

func deleteReservation(ctx context.Context, w *World) error {
	id, err := reserveOne(ctx, w)
	if err != nil {
		return err
	}
	_, err = w.manager.DeleteReservation(ctx, connect.NewRequest(&api.DeleteReservationRequest{Reservation: id}))
	return err
}
