package task

import (
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// The exit statuses of a job that was checkpointed, and of one that could not be restarted, as
// PBS numbers them.
const (
	ExitCheckpointed = -12
	ExitBadRestart   = -7
)

// The deeds of a checkpoint.
const (
	Save    Deed = "checkpoint"
	Unsaved Deed = "report the failed checkpoint"
	Keep    Deed = "keep what it goes on from"
)

// A Saving is a checkpoint under way, or done.
type Saving struct {
	// Exit is the end of the program while the script of the site is still at work: whether the
	// checkpoint counts the script says.
	Exit  *proc.Exit `json:"exit,omitempty"`
	Joint bool       `json:"joint,omitempty"` // of several programs: none ends before all are saved
	Done  bool       `json:"done,omitempty"`  // it is made; nothing of the run goes on
	// Unknown says that the mom died with the script: whether it ended the job nobody can tell.
	Unknown bool   `json:"unknown,omitempty"`
	Failure string `json:"failure,omitempty"` // the last one's
}

func (s *Saving) underWay() bool { return s != nil && !s.Done && !s.Unknown && s.Failure == "" }

// A Restart says that a run goes on from a checkpoint.
type Restart struct {
	Session int64         `json:"session"`      // that was checkpointed
	Of      *CheckpointID `json:"of,omitempty"` // of a sister; nil: it keeps no part
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
		next, actions, err = t.checkpoint(ev)
		return next, actions, err, true
	case Checkpointed:
		next, actions, err = t.checkpointed(ev)
		return next, actions, err, true
	case UnsavedTold:
		return t, nil, nil, true
	case Exited:
		if t.Saving.underWay() && t.Saving.Joint && t.State == Running {
			t.Saving = &Saving{Failure: "the job has ended"}
			next, actions, err = t.exited(ev.Exit)
			return next, append([]Action{{Do: Unsaved}, {Do: Halt}}, actions...), err, true
		}
		if t.Saving.underWay() && (t.State == Running || t.State == Ending) {
			t.Saving = &Saving{Exit: &ev.Exit}
			return t, nil, nil, true
		}
	case Kill, Abort, Lapsed:
		if t.Saving.underWay() {
			saved := t.Saving
			t.Saving = nil // as if there were none
			next, actions, err = step(t, ev)
			if next.Saving = saved; next.Kill != nil || next.Aborted || next.Fenced {
				actions = append(actions, Action{Do: Halt})
			}
			return next, actions, err, true
		}
	}
	return t, nil, nil, false
}

func (t Task) checkpoint(ev Checkpoint) (Task, []Action, error) {
	switch {
	case t.State != Running:
		return t, nil, t.refused("checkpoint")
	case t.Saving.underWay() || t.Saving != nil && t.Saving.Done:
		return t, nil, nil
	case t.Sister || !t.savable() || !t.joint() && !ev.Able || t.joint() && !ev.Joint:
		return t, nil, pbs.Refuse(pbs.NotSupported)
	}
	t = t.superseded()
	t.Saving = &Saving{Joint: t.joint()}
	t.Attempt++
	return t, []Action{{Do: Save}}, nil
}

func (t Task) checkpointed(ev Checkpointed) (Task, []Action, error) {
	if !t.Saving.underWay() {
		return t, nil, nil
	}
	exit := t.Saving.Exit
	if ev.Failure != "" {
		t.Saving = &Saving{Failure: ev.Failure}
		actions := []Action{{Do: Unsaved}}
		if exit == nil {
			return t, actions, nil
		}
		next, more, err := t.exited(*exit)
		return next, append(actions, more...), err
	}
	t.Saving = &Saving{Done: true}
	switch {
	case exit != nil:
		return t.exited(*exit)
	case t.State == Running: // what the script has left of it would run twice
		t.State = Ending
		return t, []Action{{Do: Send, Signal: syscall.SIGKILL}, {Do: Grace, After: killGrace}}, nil
	}
	return t, nil, nil
}

// resumeCheckpoint is called when the mom is back: the script died with the earlier one.
func (t Task) resumeCheckpoint() (Task, []Action) {
	if !t.Saving.underWay() {
		return t, nil
	}
	t.Saving = &Saving{Unknown: !t.Saving.Joint, Failure: "the mom was restarted"}
	return t, []Action{{Do: Unsaved}}
}

// ofCheckpoint returns how a run that was being checkpointed has ended; ok is false if it has
// ended by itself.
func (t Task) ofCheckpoint(e proc.Exit) (spool.Ended, bool) {
	switch {
	case t.Saving == nil || t.Kill != nil || t.Aborted || t.Fenced || e.Fenced:
	case t.Saving.Done:
		return spool.Ended{ExitStatus: ExitCheckpointed, Checkpointed: true, Keepers: t.keepers()}, true
	case t.Saving.Unknown && e.Status > 256:
		return spool.Ended{ExitStatus: ExitAborted, Lost: true, Comment: "its checkpoint was not finished"}, true
	}
	return spool.Ended{}, false
}

// killGroupAfter bounds the wait for what a script of the site leaves behind.
const killGroupAfter = 5 * time.Second
