package chaos

import (
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// A reservedStep is a step in the life of a reservation at which the leader dies.
type reservedStep struct{ when, trap string }

// reservedSteps returns all of them.
func reservedSteps() []reservedStep {
	return []reservedStep{
		{"it is submitted", world.ReservationAsked},
		{"it is made of a job", world.ReservationMade},
		{"it is confirmed", world.ReservationConfirmed},
		{"it is denied", world.ReservationDenied},
		{"it begins", world.ReservationBegun},
		{"a job in it is given to its host", world.ReservationJobGiven},
		{"a job in it starts", world.ReservationJobStarted},
		{"an alteration is asked for", world.ReservationAlterAsked},
		{"an alteration is decided", world.ReservationAltered},
		{"an occurrence ends", world.ReservationOccurred},
		{"the next occurrence is ahead", world.ReservationNext},
		{"it loses a vnode", world.ReservationHurt},
		{"no other vnode is found", world.ReservationSought},
		{"another vnode is found", world.ReservationWell},
		{"it is deleted", world.ReservationDeleted},
		{"it ends", world.ReservationEnded},
		{"its last job leaves", world.ReservationLastJobLeft},
	}
}

// ReservedLives returns the scenarios in which the leader dies at each step in the life of a reservation that the log knows of (L1, L8, L10, L15).
func ReservedLives() []Scenario {
	var all []Scenario
	for _, step := range reservedSteps() {
		s := reserving("lives of reservations, the leader dies when "+step.when,
			fault.Step{At: time.Second, Kind: fault.Ambush, Value: step.trap},
			fault.Step{At: 5 * time.Second, Kind: fault.Restart, Target: fault.Target{Role: fault.Crashed}})
		// Whether some begin, and others are denied, is the matter of each step.
		s.Checks = append(append(check.All(), check.Reservations()...), check.KilledAt(step.trap))
		if often, ok := reservedOften[step.trap]; ok {
			s.Load.Mix = append([]load.Share{{Kind: check.Submit, Percent: 10}, {Kind: often, Percent: 14}}, s.Load.Mix...)
			s.Load.Ops, s.Load.Pause = 50, 500*time.Millisecond
		}
		if step.trap == world.ReservationNext || step.trap == world.ReservationLastJobLeft {
			s.Load.Long.Percent = 70
		}
		all = append(all, s)
	}
	return all
}

// reservedOften is what clients ask for more often where a step is to come.
var reservedOften = map[string]check.Kind{
	world.ReservationMade: check.Submit, world.ReservationDeleted: check.DeleteReservation,
	world.ReservationAlterAsked: check.AlterReservation, world.ReservationAltered: check.AlterReservation,
	world.ReservationNext: check.SubmitInside, world.ReservationLastJobLeft: check.SubmitInside,
	world.ReservationHurt: check.Reserve, world.ReservationSought: check.Reserve, world.ReservationWell: check.Reserve,
}
