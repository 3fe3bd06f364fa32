package render

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// ReservationColumns are the attributes that a row of pbs_rstat needs.
var ReservationColumns = []string{"reserve_state", "reserve_start", "reserve_end", "reserve_duration", "queue", "Authorized_Users"}

// A ReservationTable is pbs_rstat's table; rows are written as they come. Wide makes room for identifiers of more
// than seven digits.
type ReservationTable struct {
	Wide bool
	Now  time.Time // in the user's zone
}

// The rows of the table, and what its lines above them are made of.
const (
	reservationRow     = "%-10.10s %-8.8s %-8.8s %-5.5s %17.17s / %s / %-17.17s\n"
	reservationWideRow = "%-15.15s %-13.13s %-8.8s %-5.5s %17.17s / %s / %-17.17s\n"
	reservationRule    = "---------------------------------------------------------------------\n"
	reservationWider   = "----------"
)

// Head writes the two lines above the rows.
func (t *ReservationTable) Head(w io.Writer) {
	fmt.Fprintf(w, t.form(), "Resv ID", "Queue", "User", "State", "Start", "Duration", "End")
	if t.Wide {
		io.WriteString(w, reservationWider)
	}
	io.WriteString(w, reservationRule)
}

func (t *ReservationTable) form() string {
	if t.Wide {
		return reservationWideRow
	}
	return reservationRow
}

// Row writes one reservation.
func (t *ReservationTable) Row(w io.Writer, o *api.Object) {
	state, _ := pbs.ParseReservationState(Find(o, "reserve_state", ""))
	fmt.Fprintf(w, t.form(), o.Name, Find(o, "queue", ""), Find(o, "Authorized_Users", ""), state.Short(),
		t.near(Find(o, "reserve_start", "")), cmp.Or(Find(o, "reserve_duration", ""), "0"), t.near(Find(o, "reserve_end", "")))
}

// near writes a moment as short as its distance allows: "Today 11:44", "Wed 09:34" within a week, and else the date.
func (t *ReservationTable) near(text string) string {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return ""
	}
	const week = 7 * 24 * time.Hour
	at := time.Unix(seconds, 0).In(t.Now.Location())
	switch {
	case at.Year() == t.Now.Year() && at.YearDay() == t.Now.YearDay():
		return at.Format("Today 15:04")
	case at.Sub(t.Now).Abs() < week:
		return at.Format("Mon 15:04")
	}
	return at.Format("Mon Jan 02 2006 15:04")
}

// Reservation writes one as pbs_rstat -F does: neither indented nor folded.
func Reservation(w io.Writer, o *api.Object, zone *time.Location) {
	b, flush := buffered(w)
	defer flush()
	fmt.Fprintf(b, "Resv ID: %s\n", o.Name)
	for _, a := range o.Attributes {
		fmt.Fprintf(b, "%s = %s\n", label(a), Printable(moment(a, zone)))
	}
	b.WriteByte('\n')
}
