package pbs

import (
	"strconv"
	"strings"
)

// A ReservationID is the full identifier of a reservation, such as "R3.srv".
type ReservationID string

// The letters in front of the number: what kind of reservation it is (specification:
// advance-reservations section 1).
const (
	ResvAdvance     byte = 'R'
	ResvStanding    byte = 'S'
	ResvMaintenance byte = 'M'
)

// NewReservationID returns the identifier of a reservation of the kind. Its number is of the
// same sequence as those of jobs.
func NewReservationID(kind byte, seq uint64, server string) ReservationID {
	return ReservationID(string(kind) + strconv.FormatUint(seq, 10) + "." + server)
}

// ParseReservationID reads an identifier as a user types it, <letter><number>[.<server>][@<server>],
// and completes it as ParseJobID does. A text of another form is refused with BadJobID.
func ParseReservationID(text, defaultServer string) (ReservationID, error) {
	if !NamesReservation(text) {
		return "", Errorf(BadJobID, "illegally formed reservation identifier: %s", text)
	}
	id, err := ParseJobID(text[1:], defaultServer)
	return ReservationID(text[:1] + string(id)), err
}

// Kind returns the letter in front, 0 of an empty identifier.
func (id ReservationID) Kind() byte {
	if id == "" {
		return 0
	}
	return id[0]
}

// Queue returns the name of the reservation's queue, which is what stands before the server's name.
func (id ReservationID) Queue() QueueName {
	name, _, _ := strings.Cut(string(id), ".")
	return QueueName(name)
}

// Seq returns the sequence number, 0 for a malformed identifier.
func (id ReservationID) Seq() uint64 {
	if id == "" {
		return 0
	}
	return JobID(id[1:]).Seq()
}

// A ReservationState is where a reservation stands. The numbers are those that hooks see (specification:
// advance-reservations section 2), and are in every log and snapshot.
type ReservationState uint8

// The states that a reservation can be in.
const (
	ResvUnconfirmed  ReservationState = 1
	ResvConfirmed    ReservationState = 2
	ResvRunning      ReservationState = 5
	ResvBeingDeleted ReservationState = 7  // ended or deleted, its last jobs are leaving
	ResvDeletingJobs ReservationState = 9  // an occurrence has ended, its jobs are leaving
	ResvDegraded     ReservationState = 10 // not started, and a vnode of it cannot be used
	ResvBeingAltered ReservationState = 11 // a change was asked and is not decided
	// ResvInConflict is a substate alone: a maintenance has taken vnodes of it.
	ResvInConflict ReservationState = 12
)

var resvStates = map[ReservationState]struct{ short, long string }{
	ResvUnconfirmed: {"UN", "UNCONFIRMED"}, ResvConfirmed: {"CO", "CONFIRMED"}, ResvRunning: {"RN", "RUNNING"},
	ResvBeingDeleted: {"BD", "BEING_DELETED"}, ResvDeletingJobs: {"DJ", "DELETING_JOBS"},
	ResvDegraded: {"DG", "DEGRADED"}, ResvBeingAltered: {"AL", "BEING_ALTERED"},
}

// Short returns the state as pbs_rstat prints it in a row.
func (s ReservationState) Short() string { return resvStates[s].short }

// String returns the state as pbs_rstat -F prints it.
func (s ReservationState) String() string { return "RESV_" + resvStates[s].long }

// ParseReservationState returns the state of that long name, with RESV_ in front.
func ParseReservationState(text string) (ReservationState, bool) {
	for s := range resvStates {
		if s.String() == text {
			return s, true
		}
	}
	return 0, false
}
