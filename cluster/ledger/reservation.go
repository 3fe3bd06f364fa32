package ledger

import (
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// reservationLines returns what the server log says of an event of a reservation (specification: advance-reservations
// section 15): nothing of its start, its end and its deletion.
func reservationLines(e state.Event) []line {
	r := e.Reservation
	one := func(event uint16, text string) []line { return []line{{event, "Resv", string(r.ID), text}} }
	switch e.Kind {
	case state.ReservationAsked:
		text := "New reservation submitted start=" + date(r.Start) + " end=" + date(r.End)
		if r.Rule != "" {
			text += " recurrence_rrule=" + r.Rule + " timezone=" + r.Zone
		}
		return one(pbs.LogResv, text)
	case state.ReservationConfirmed:
		if e.Text != "" {
			return one(pbs.LogResv, "Reservation alter confirmed")
		}
		return one(pbs.LogResv, "Reservation confirmed")
	case state.ReservationDenied:
		return append(one(pbs.LogJob, "Reservation denied"), one(pbs.LogDebug, "reservation deleted")...)
	case state.ReservationAlterAsked:
		return one(pbs.LogResv, alterText(e))
	case state.ReservationAlterDenied:
		return one(pbs.LogResv, "Reservation alter denied")
	case state.ReservationRetried:
		return one(pbs.LogDebug2, e.Text+date(r.Retry))
	case state.ReservationIdled:
		return one(pbs.LogResv, "Deleting reservation after being idle for "+e.Text+" seconds")
	}
	return nil
}

func alterText(e state.Event) string {
	text := "Attempting to modify reservation"
	ask := e.Reservation.Ask
	for _, word := range strings.Fields(e.Text) {
		switch word {
		case "start":
			text += " start=" + date(ask.Start)
		case "end":
			text += " end=" + date(ask.End)
		case "select":
			sel, _ := ask.Resources.Get("select")
			text += " select=" + sel
		}
	}
	return text
}

// date writes a moment as PBS does.
func date(t pbs.Time) string { return time.Unix(0, int64(t)).Format(time.ANSIC) }
