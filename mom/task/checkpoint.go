package task

import (
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// The deeds of a checkpoint.
const (
	Save    Deed = "checkpoint"
	Unsaved Deed = "report the failed checkpoint"
	Keep    Deed = "keep what it goes on from"
)

// Checkpoints are what a task knows of those of its run.
type Checkpoints struct {
	Attempt uint64    `json:"attempt,omitempty"` // the number of the last that was begun
	Hold    Hold      `json:"hold,omitzero"`     // after which the run ends
	Snap    Snap      `json:"snap,omitzero"`     // that it has outlived
	Part    SavedPart `json:"part,omitzero"`     // of a sister
	Restart *Restart  `json:"restart,omitempty"` // that it goes on from
	Kept    KeptPart  `json:"kept,omitempty"`    // what becomes of what is kept when a part is over
}

// A Restart says that a run goes on from a checkpoint.
type Restart struct {
	Session int64         `json:"session"`         // that was checkpointed
	Of      *CheckpointID `json:"of,omitempty"`    // of a sister; nil: it keeps no part
	Begun   bool          `json:"begun,omitempty"` // a sister has started its programs again
}

type (
	// Checkpoint asks for a checkpoint after which the job ends; Able says that the site has a
	// script for it, Joint that it has one for jobs of several programs.
	Checkpoint struct{ Able, Joint bool }
	// Checkpointed says how the script has ended; Failure is empty if it went well.
	Checkpointed struct{ Failure string }
	// UnsavedTold says that the fact of a failure is in the spool.
	UnsavedTold struct{}
)

func (Checkpoint) event()   {}
func (Checkpointed) event() {}
func (UnsavedTold) event()  {}

// stepCheckpoint decides what follows from an event while a job is being checkpointed; ok is
// false for what follows as ever.
func (t Task) stepCheckpoint(ev Event) (next Task, actions []Action, err error, ok bool) {
	switch ev := ev.(type) {
	case Checkpoint:
		next, actions, err = mother{t}.checkpoint(ev)
		return next, actions, err, true
	case Checkpointed:
		next, actions, err = mother{t}.checkpointed(ev)
		return next, actions, err, true
	case UnsavedTold:
		return t, nil, nil, true
	case Exited:
		if t.State() != Running && t.State() != Ending {
			break
		}
		hold, waits, fails := t.Checkpoints.Hold.exited(ev.Exit, t.State() == Running)
		t.Checkpoints.Hold = hold
		if fails {
			next, actions, err = mother{t}.exited(ev.Exit)
			return next, append([]Action{{Do: Unsaved}, {Do: Halt}}, actions...), err, true
		}
		return t, nil, nil, waits
	}
	return t, nil, nil, false
}

// withoutHold stops the script of a checkpoint of a run that is to end otherwise.
func (t mother) withoutHold(ev Event, actions []Action) []Action {
	switch ev.(type) {
	case Kill, Abort, Lapsed:
		if t.Checkpoints.Hold.underWay() && (t.Life.Kill.there() || t.Life.forced()) {
			return append(actions, Action{Do: Halt})
		}
	}
	return actions
}

func (t mother) checkpoint(ev Checkpoint) (Task, []Action, error) {
	switch {
	case t.State() != Running:
		return t.Task, nil, t.refused("checkpoint")
	case t.Checkpoints.Hold.underWay() || t.Checkpoints.Hold.done():
		return t.Task, nil, nil
	case t.Sister() || !t.savable() || !t.joint() && !ev.Able || t.joint() && !ev.Joint:
		return t.Task, nil, pbs.Refuse(pbs.NotSupported)
	}
	t.Checkpoints.Snap = t.Checkpoints.Snap.superseded()
	t.Checkpoints.Hold, _ = t.Checkpoints.Hold.ask(t.joint())
	t.Checkpoints.Attempt++
	return t.Task, []Action{{Do: Save}}, nil
}

func (t mother) checkpointed(ev Checkpointed) (Task, []Action, error) {
	exit := t.Checkpoints.Hold.Exit
	hold, ok := t.Checkpoints.Hold.over(ev.Failure)
	if !ok {
		return t.Task, nil, nil
	}
	t.Checkpoints.Hold = hold
	if !hold.done() {
		actions := []Action{{Do: Unsaved}}
		if exit == nil {
			return t.Task, actions, nil
		}
		next, more, err := t.exited(*exit)
		return next, append(actions, more...), err
	}
	switch {
	case exit != nil:
		return t.exited(*exit)
	case t.State() == Running: // what the script has left of it would run twice
		return t.to(endItWord), []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}, nil
	}
	return t.Task, nil, nil
}

// resumeCheckpoints is called when the mom is back: the scripts died with the earlier one.
func (t Task) resumeCheckpoints() (Task, []Action) {
	c, actions := t.Checkpoints, []Action(nil)
	hold, failed := c.Hold.restarted()
	if failed {
		actions = append(actions, Action{Do: Unsaved})
	}
	c.Hold, c.Snap, c.Part = hold, c.Snap.superseded(), c.Part.stopped("the mom was restarted")
	if c.Snap.Made == MadeUntold {
		actions = append(actions, Action{Do: TellMade})
	}
	t.Checkpoints = c
	return t, actions
}

// ofCheckpoint returns how a run that was being checkpointed has ended; ok is false if it has
// ended by itself.
func (t mother) ofCheckpoint(e proc.Exit) (spool.Ended, bool) {
	switch hold := t.Checkpoints.Hold; {
	case t.Life.Kill.there() || t.Life.forced() || e.Fenced:
	case hold.done():
		return spool.Ended{ExitStatus: pbs.ExitCheckpointed, Checkpointed: true, Keepers: t.keepers()}, true
	case hold.State == HoldUnknown && e.Status > pbs.ExitSignal:
		return spool.Ended{ExitStatus: pbs.ExitAborted, Lost: true, Comment: "its checkpoint was not finished"}, true
	}
	return spool.Ended{}, false
}

// killGroupAfter bounds the wait for what a script of the site leaves behind.
const killGroupAfter = 5 * time.Second
