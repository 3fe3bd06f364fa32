package chaos

import (
	"slices"
	"testing"

	"rampart/chaos/check"
	"rampart/chaos/world"
)

// Each move of a reservation, whatever brings it about, is a step at which a leader dies, in one scenario.
func TestLives_EveryStepOfReservations(t *testing.T) {
	var traps, reached []string
	for _, step := range reservedSteps() {
		traps = append(traps, step.trap)
	}
	reach := func(was, is check.Stage) {
		step := world.ReservationStep(was, is)
		if !slices.Contains(traps, step) {
			t.Errorf("from %q to %q by %v: %q needs a scenario (reservedlives.go)", was.State, is.State, is.By, step)
		}
		reached = append(reached, step)
	}
	for _, move := range check.ReservationMoves() {
		for _, by := range []string{"", "Reserve", "DecideReservation", "AlterReservation", "DeleteReservation"} {
			reach(check.Stage{State: move.From, Left: 1}, check.Stage{State: move.To, Left: 1, By: []string{by}})
		}
	}
	reach(check.Stage{State: "RN", Left: 2}, check.Stage{State: "CO", Left: 1})
	for _, state := range []string{"CO", "RN"} {
		reach(check.Stage{State: state, Left: 1}, check.Stage{State: state, Left: 1, Hurt: true})
		reach(check.Stage{State: state, Left: 1, Hurt: true}, check.Stage{State: state, Left: 1})
	}
	still := []string{world.ReservationJobGiven, world.ReservationJobStarted, world.ReservationSought} // it stays in its state
	for _, trap := range traps {
		if !slices.Contains(reached, trap) && !slices.Contains(still, trap) {
			t.Errorf("no move is the step %q", trap)
		}
	}
	if all := ReservedLives(); len(all) != len(traps) {
		t.Errorf("%d scenarios for %d steps", len(all), len(traps))
	}
}
