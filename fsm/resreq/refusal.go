package resreq

import (
	"fmt"

	"rampart/fsm/pbs"
)

// A Cause is why a requirement is refused.
type Cause uint8

// The causes (specification: reservation section 2.7).
const (
	Syntax Cause = iota + 1
	QueueReservation
	QueueLimit
	QueueHardLimit
	TooManyProcessors
)

var causeTexts = [...]string{
	Syntax:            "Bad resource requirement syntax",
	QueueReservation:  "Cannot exceed queue's resource reservation",
	QueueLimit:        "Job cannot exceed queue level RESRSV_LIMIT limitation",
	QueueHardLimit:    "Cannot exceed queue's hard limit(s)",
	TooManyProcessors: "Too many processors requested",
}

// String returns the text that people and scripts know.
func (c Cause) String() string {
	if c == 0 || int(c) >= len(causeTexts) {
		return "?"
	}
	return causeTexts[c]
}

// A Refusal says why a requirement is not accepted. Its Error is the exact text; Explain says more.
type Refusal struct {
	Cause   Cause
	At      int    // offset in the string, -1 where no place in it is at fault
	Problem string // what is wrong, and what was expected
}

// Error returns the text of the cause.
func (r *Refusal) Error() string { return r.Cause.String() }

// Explain returns the text with what was wrong, where, and what was expected.
func (r *Refusal) Explain() string {
	switch {
	case r.Problem == "":
		return r.Error()
	case r.At < 0:
		return r.Error() + ": " + r.Problem
	}
	return fmt.Sprintf("%s: at character %d: %s", r.Error(), r.At+1, r.Problem)
}

// PBS returns the refusal as a job gets it that came by a PBS command.
func (r *Refusal) PBS() *pbs.Error {
	if r.Cause == Syntax {
		return pbs.Errorf(pbs.BadAttributeValue, "%s", r.Explain())
	}
	return pbs.Refuse(pbs.ResourceLimit)
}

func syntax(at int, format string, args ...any) *Refusal {
	return &Refusal{Syntax, at, fmt.Sprintf(format, args...)}
}
