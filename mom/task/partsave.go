package task

import "rampart/fsm/pbs"

// A CheckpointID names a checkpoint, of which every host of the run keeps a part.
type CheckpointID struct {
	Run    pbs.RunCount `json:"run"`    // that was checkpointed
	Number uint64       `json:"number"` // rises in a run
}

// A SavedPart is what came of a sister's part of the last checkpoint.
type SavedPart struct {
	Busy    bool          `json:"busy,omitempty"`    // the scripts of the site are at work
	Failure string        `json:"failure,omitempty"` // empty: it is whole
	Whole   *CheckpointID `json:"whole,omitempty"`   // that counted before
}

// A KeptPart says what becomes of a checkpoint, and of the job's files, when a run is over. The
// numbers are in records on disk.
type KeptPart uint8

// What becomes of a checkpoint.
const (
	PartGoesOn KeptPart = iota + 1 // both stay: the job goes on from it
	PartKnown                      // the servers have it dropped
	PartNone                       // nothing goes on from it, and the servers do not know of it
)

// The events of a sister's part of a checkpoint.
type (
	// SavePart asks for the part of a checkpoint that the job outlives; Whole is the one that counts
	// until then, nil if none does. Able says that the site has a script for it.
	SavePart struct {
		Number uint64
		Whole  *CheckpointID
		Able   bool
	}
	// PartSaved says how the scripts have ended; Failure is empty if it went well.
	PartSaved struct {
		Number  uint64
		Failure string
	}
	// PartKept says what becomes of the part when the run is over.
	PartKept struct{ Kept KeptPart }
)

func (SavePart) event()  {}
func (PartSaved) event() {}
func (PartKept) event()  {}

// Checkpoint the part of a run, while it runs on.
const savePart Deed = "checkpoint the part"

// joint tells whether the job has programs that are to be saved besides its first.
func (t Task) joint() bool { return len(t.sisters()) > 0 || t.live() }

// savable tells whether the job may be checkpointed. When some of its hosts were released its next
// run is on all of them again, and not where the parts are.
func (t Task) savable() bool { return !t.interactive() && (len(t.sisters()) == 0 || t.Number == 0) }

// keepers are the sisters' hosts, which keep parts of a checkpoint.
func (t Task) keepers() (all []pbs.HostName) {
	for _, h := range t.sisters() {
		all = append(all, h.Name)
	}
	return all
}

func (t Task) checkpointID() CheckpointID { return CheckpointID{t.Key.Run, t.Attempt} }

// leftBehind tells what becomes of the checkpoint on this host. A sister that nobody has told keeps what it
// has, until the job's next run or the servers say more.
func (t Task) leftBehind() KeptPart {
	switch {
	case t.Kept != 0:
		return t.Kept
	case t.Sister && !t.Dismissed && (t.Attempt > 0 || t.Restart != nil):
		return PartGoesOn
	case t.Sister:
		return PartKnown
	case t.Result != nil && t.Result.Checkpointed, t.goesOn():
		return PartGoesOn
	case t.Restart == nil && (t.Saving != nil && t.Saving.Done || t.Attempt > 0 && !t.snapped().Made):
		return PartNone
	}
	return PartKnown
}

// stepPart decides what follows from an event of a sister's part of a checkpoint.
func (t Task) stepPart(ev Event) (next Task, actions []Action, err error, ok bool) {
	switch ev := ev.(type) {
	case SavePart:
		next, actions, err = t.savePart(ev)
		return next, actions, err, true
	case PartSaved:
		if t.Part != nil && t.Part.Busy && ev.Number == t.Attempt {
			t.Part = &SavedPart{Failure: ev.Failure}
		}
		return t, nil, nil, true
	case RestorePart:
		next, actions, err = t.stepRestore(ev)
		return next, actions, err, true
	case PartKept:
		t.Kept = ev.Kept
		if t.Sister && t.State == Ended && t.Kept != PartGoesOn {
			actions = append(actions, Action{Do: Clean})
		}
		return t, actions, nil, true
	}
	return t, nil, nil, false
}

func (t Task) savePart(ev SavePart) (Task, []Action, error) {
	switch {
	case !t.Sister || t.State != Running:
		return t, nil, t.refused("checkpoint")
	case ev.Number == t.Attempt:
		return t, nil, nil
	case ev.Number < t.Attempt:
		return t, nil, pbs.Errorf(pbs.BadState, "a later checkpoint was asked for")
	case !ev.Able:
		return t, nil, pbs.Errorf(pbs.NotSupported, "there is no $action checkpoint")
	}
	t.Attempt, t.Part = ev.Number, &SavedPart{Busy: true, Whole: ev.Whole}
	return t, []Action{{Do: savePart}}, nil
}

// withoutPart stops the scripts of a part that ends.
func (t Task) withoutPart(actions []Action) (Task, []Action) {
	if t.Part == nil || !t.Part.Busy || t.State == Running {
		return t, actions
	}
	t.Part = &SavedPart{Failure: "the part has ended"}
	return t, append(actions, Action{Do: Halt})
}

// resumePart is called when the mom is back: the scripts died with the earlier one.
func (t Task) resumePart() Task {
	if t.Part != nil && t.Part.Busy {
		t.Part = &SavedPart{Failure: "the mom was restarted"}
	}
	return t
}
