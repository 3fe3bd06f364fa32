package check

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Booking is a reservation as the first replica that applied an entry saw it, from its submission on.
type Booking struct {
	ID, Name string
	Stages   []Stage       // what it became
	Seen     time.Duration // when the last entry was seen
}

// A Stage is what a reservation was from an entry on.
type Stage struct {
	At    time.Duration
	Index uint64
	Clock int64  // of the log, in seconds since the epoch
	State string // short; empty: it is gone
	Period
	Nodes string
	Left  int      // occurrences that are not over
	Hurt  bool     // a vnode of it cannot be used
	Taken bool     // a maintenance has vnodes of it
	Want  Period   // what is asked for, of one that is being altered
	By    []string // kinds of commands in the entry that were about it
	Made  []Period // alterations in the entry that needed no decision

	Due time.Duration // when an entry first had a time at which it was to be something else; 0: none had
}

// String returns the booking as one line.
func (b Booking) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s:", b.ID, b.Name)
	for _, s := range b.Stages {
		if s.State == "" {
			s.State = "gone"
		}
		fmt.Fprintf(&out, " %s at %.3fs (%d; %d to %d on %q, %d left) by %v;", s.State, s.At.Seconds(), s.Clock, s.Start, s.End, s.Nodes, s.Left, s.By)
	}
	return out.String()
}

// Same reports whether a reservation is what it was.
func (s Stage) Same(o Stage) bool {
	return s.State == o.State && s.Period == o.Period && s.Nodes == o.Nodes && s.Left == o.Left && s.Hurt == o.Hurt && s.Taken == o.Taken && s.Want == o.Want
}

// A Reservation is what a replica's state says of one at the end.
type Reservation struct {
	ID, Name string
	State    string // short
	Period
	Nodes string
	Taken bool // a maintenance has vnodes of it
}

// Reservations lists the laws of reservations.
func Reservations() []Law {
	return []Law{
		LegalReservationMoves, ReservationsKept, ReservationsOnTime, ReservationsTold, ReservationsAccounted, InsideJobs, InsideTheirTime,
	}
}

// ReservationsKept judges L15 for confirmed reservations: only an alteration changes their times, and to what it asked
// for; only an answered question or a maintenance changes their vnodes; and only their end or a deletion removes them.
var ReservationsKept = Law{Name: "L15 reservations are kept", Judge: func(e *Evidence) []string {
	var f faults
	for _, b := range e.Bookings {
		for i := 1; i < len(b.Stages); i++ {
			judgeStage(&f, b, b.Stages[i-1], b.Stages[i])
		}
	}
	return f
}}

// over reports whether the time of a reservation is over by an entry: by its end, or by that of an alteration, which may have passed.
func (s Stage) over(by Stage) bool {
	return s.End <= by.Clock || slices.ContainsFunc(s.granted(by), func(p Period) bool { return p.End <= by.Clock })
}

// granted returns the periods that an entry may have given a reservation.
func (s Stage) granted(by Stage) []Period {
	all := by.Made
	if s.State == "AL" && slices.Contains(by.By, "DecideReservation") {
		all = append(slices.Clone(all), s.Want)
	}
	return all
}

// goesOn are the states of a reservation that may go on to another occurrence.
var goesOn = []string{"RN", "DJ", "CO", "DG", "AL"}

func judgeStage(f *faults, b Booking, was, is Stage) {
	decided, deleted := slices.Contains(is.By, "DecideReservation"), slices.Contains(is.By, "DeleteReservation")
	switch over := was.over(is); {
	case was.State == "": // a later one never has its number
		f.add("%s was gone, and is %s at index %d", b.ID, is.State, is.Index)
	case is.State == "":
		if !over && was.State != "BD" && !deleted && (!decided || was.State != "UN") {
			f.add("%s, %s until %d, was gone at %d (index %d, by %v)", b.ID, was.State, was.End, is.Clock, is.Index, is.By)
		}
	case is.Left != was.Left:
		if is.Left > was.Left || !over && was.State != "DJ" || !slices.Contains(goesOn, was.State) {
			f.add("%s, %s until %d, goes on to another occurrence at %d (index %d)", b.ID, was.State, was.End, is.Clock, is.Index)
		}
	case is.State == "BD" || is.State == "DJ":
		if !over && was.State != is.State && (!deleted || is.State == "DJ") {
			f.add("%s, %s until %d, was %s at %d (index %d, by %v)", b.ID, was.State, was.End, is.State, is.Clock, is.Index, is.By)
		}
	case is.Period != was.Period && !slices.Contains(was.granted(is), is.Period) && (!decided || was.State != "UN" || was.Period != Period{}):
		f.add("%s was promised from %d to %d, and is from %d to %d since index %d, by %v", b.ID, was.Start, was.End, is.Start, is.End, is.Index, is.By)
	case is.Nodes != was.Nodes && !decided && !(is.Taken && leftOf(is.Nodes, was.Nodes)) && !(was.Taken && leftOf(was.Nodes, is.Nodes)):
		f.add("%s was promised %s, and has %s since index %d, by %v", b.ID, was.Nodes, is.Nodes, is.Index, is.By)
	}
}

// leftOf reports whether vnodes are among others, or none.
func leftOf(some, all string) bool { return some == "" || within(some, all) }

// latest is how late a reservation may begin or end once the clock of the log has come to its time: no majority is away for longer.
const latest = 20 * time.Second

// ReservationsOnTime says that what is confirmed begins at its time, and what has begun ends at it, or as soon as there is a leader.
var ReservationsOnTime = Law{Name: "L15 reservations are on time", Judge: func(e *Evidence) []string {
	var f faults
	for _, b := range e.Bookings {
		for i, s := range b.Stages {
			until := b.Seen
			if i+1 < len(b.Stages) {
				until = b.Stages[i+1].At
			}
			if s.Due > 0 && until-s.Due > latest {
				f.add("%s was %s from %d to %d, and was it still %s after the log had come to that", b.ID, s.State, s.Start, s.End, until-s.Due)
			}
			if s.State == "RN" && s.Start > s.Clock {
				f.add("%s began at %d, and was to begin at %d", b.ID, s.Clock, s.Start)
			}
		}
	}
	return f
}}
