package check

import "slices"

// A ReservationMove is what a reservation may become at once, in short states; empty: it is not there yet, or not any more.
type ReservationMove struct{ From, To string }

// reservationMoves are the moves of the specification (advance-reservations section 2). What has become due while nobody led is
// made good in one entry, so an end may follow on a state that comes before the start.
var reservationMoves = map[string][]string{
	"":   {"UN", "CO", "RN"}, // CO and RN: a maintenance, and one that is made of a job
	"UN": {"CO", "RN", ""},
	"CO": {"DG", "RN", "AL", ""},
	"DG": {"CO", "RN", "AL", ""},
	"AL": {"CO", "DG", "RN", "DJ", "BD", ""},
	"RN": {"AL", "CO", "DG", "DJ", "BD", ""},
	"DJ": {"CO", "DG", "RN", "BD", ""},
	"BD": {""},
}

// ReservationMoves returns all legal moves.
func ReservationMoves() (all []ReservationMove) {
	for _, from := range sortedKeys(reservationMoves) {
		for _, to := range reservationMoves[from] {
			all = append(all, ReservationMove{from, to})
		}
	}
	return all
}

// LegalReservationMoves is L5 of reservations: they move along the table alone, once for each command of an entry about them, and
// once more for the time.
var LegalReservationMoves = Law{Name: "L5 legal moves of reservations", Judge: func(e *Evidence) []string {
	var f faults
	for _, b := range e.Bookings {
		was := Stage{}
		for _, is := range b.Stages {
			if was.State != is.State && !reaches(was.State, is.State, 1+len(is.By)) {
				f.add("%s went from %q to %q at index %d, by %v", b.ID, was.State, is.State, is.Index, is.By)
			}
			was = is
		}
	}
	return f
}}

// reaches reports whether so many moves at most lead from a state to another. One that is gone does not come back.
func reaches(from, to string, moves int) bool {
	if slices.Contains(reservationMoves[from], to) {
		return true
	}
	return moves > 1 && slices.ContainsFunc(reservationMoves[from], func(via string) bool { return via != "" && reaches(via, to, moves-1) })
}
