package world

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// The steps in the life of a reservation, for a trap at one.
const (
	ReservationAsked       = "reservation: asked"     // it is submitted
	ReservationMade        = "reservation: made"      // it has its vnodes from its submission on: of a job, or a maintenance
	ReservationConfirmed   = "reservation: confirmed" // with a start that has come: and it runs
	ReservationDenied      = "reservation: denied"
	ReservationBegun       = "reservation: begun"
	ReservationJobGiven    = "reservation: job given"   // a job in it is given to its host
	ReservationJobStarted  = "reservation: job started" // and runs
	ReservationAlterAsked  = "reservation: alter asked"
	ReservationAltered     = "reservation: altered"  // or not: the alteration is decided
	ReservationOccurred    = "reservation: occurred" // an occurrence is over, and another follows
	ReservationNext        = "reservation: next"     // its jobs have left: the next one is ahead
	ReservationHurt        = "reservation: hurt"     // a vnode of it cannot be used
	ReservationSought      = "reservation: sought"   // another one was looked for and not found
	ReservationWell        = "reservation: well"     // it was found, or the vnode is back
	ReservationDeleted     = "reservation: deleted"
	ReservationEnded       = "reservation: ended"         // its time is over
	ReservationLastJobLeft = "reservation: last job left" // and it is gone
)

// ReservationStep tells which step in the life of a reservation a change of it is; empty: none of those above.
func ReservationStep(was, is check.Stage) string {
	over, goesOn := is.State == "" || is.State == "BD", is.Left < was.Left || is.State == "DJ"
	switch {
	case was.State == "" && is.State == "UN":
		return ReservationAsked
	case was.State == "":
		return ReservationMade
	case over && was.State == "BD":
		return ReservationLastJobLeft
	case over && slices.Contains(is.By, "DeleteReservation"):
		return ReservationDeleted
	case over && was.State == "UN" && slices.Contains(is.By, "DecideReservation"):
		return ReservationDenied
	case over:
		return ReservationEnded
	case was.State == "DJ":
		return ReservationNext
	case goesOn:
		return ReservationOccurred
	case is.State == "AL" && was.State != "AL":
		return ReservationAlterAsked
	case was.State == "AL" && is.State != "AL":
		return ReservationAltered
	case was.State == "UN" && is.State != "UN":
		return ReservationConfirmed
	case is.State == "RN" && was.State != "RN":
		return ReservationBegun
	case is.Hurt && !was.Hurt:
		return ReservationHurt
	case was.Hurt && !is.Hurt:
		return ReservationWell
	case is.State != was.State: // one that runs is put off by force
		return ReservationAltered
	}
	return ""
}

// insideStep tells which step in the life of a reservation a command is that leaves it in its state.
func insideStep(v *state.View, c command.Command) string {
	inside := func(id pbs.JobID) bool {
		j, ok := v.Job(id)
		return ok && j.Reservation != ""
	}
	switch c := c.(type) {
	case *command.StartJob:
		if inside(c.Job) {
			return ReservationJobGiven
		}
	case *command.JobStarted:
		if inside(c.Job) {
			return ReservationJobStarted
		}
	case *command.DecideReservation:
		if r, ok := v.Reservation(c.Reservation); ok && len(c.Nodes) == 0 && r.Retry != 0 {
			return ReservationSought
		}
	}
	return ""
}

// reserveOf makes a reservation of a running job, which ends with it.
func reserveOf(ctx context.Context, w *World, jobs []string) error {
	w.book.wish(check.Delete, pbs.JobID(jobs[0])) // a run of it that waits at the end is deleted
	_, err := w.manager.Reserve(ctx, connect.NewRequest(&api.ReserveRequest{Attributes: []*api.Attribute{
		{Name: "reserve_job", Value: jobs[0]}, {Name: "Reserve_Name", Value: "world's"},
	}}))
	return err
}

// loseVnodes takes vnodes out and gives them back again, until the trap has struck: all of them, so that no others are found, and
// one of them.
func loseVnodes(ctx context.Context, w *World) error {
	set := func(kind api.ObjectKind, name, attr, value string) {
		_ = manage(api.Verb_VERB_SET, kind, name, attr, value)(ctx, w) // the next round does it, or Rest
	}
	set(api.ObjectKind_OBJECT_KIND_SERVER, "", "reserve_retry_time", "1")
	for round := 0; w.traps.current.Load() != nil; round++ {
		for n, m := range w.moms {
			if round%2 == 0 || n == round/2%len(w.moms) {
				set(api.ObjectKind_OBJECT_KIND_VNODE, m.name, "state", "offline")
			}
		}
		for range 5 {
			if w.traps.current.Load() != nil && !pause(ctx) {
				return nil
			}
		}
		for _, m := range w.moms {
			set(api.ObjectKind_OBJECT_KIND_VNODE, m.name, "state", "free")
		}
		for range 3 {
			if w.traps.current.Load() != nil && !pause(ctx) {
				return nil
			}
		}
	}
	return nil
}

// useVnodes takes back that vnodes are offline; empty: none is any more.
func (n resting) useVnodes(ctx context.Context, v *state.View) string {
	for node := range v.Vnodes() {
		if node.Flags&state.VnodeOffline == 0 {
			continue
		}
		if err := manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_VNODE, string(node.Name), "state", "free")(ctx, n.World); err != nil {
			return err.Error()
		}
		return string(node.Name) + " was offline"
	}
	return ""
}
