package task

import "rampart/fsm/pbs"

// A CheckpointID names a checkpoint, of which every host of the run keeps a part.
type CheckpointID struct {
	Run    pbs.RunCount `json:"run"`    // that was checkpointed
	Number uint64       `json:"number"` // rises in a run
}

// A PartState is how far a sister is with its part of a checkpoint. The numbers are in records on disk.
type PartState uint8

// The states of a sister's part.
const (
	PartUnasked PartState = iota
	PartBusy              // the scripts of the site are at work
	PartWhole             // it is saved
	PartFailed
)

// String returns the state as a word.
func (s PartState) String() string {
	return nameOf([]string{PartUnasked: "unasked", PartBusy: "busy", PartWhole: "whole", PartFailed: "failed"}, s)
}

// A SavedPart is what came of a sister's part of the last checkpoint.
type SavedPart struct {
	State   PartState     `json:"state,omitempty"`
	Failure string        `json:"failure,omitempty"`
	Whole   *CheckpointID `json:"whole,omitempty"` // that counted before
}

var savedParts = table[PartState]{
	{PartUnasked, askWord, PartBusy},
	{PartBusy, askWord, PartBusy}, // by a later number
	{PartWhole, askWord, PartBusy},
	{PartFailed, askWord, PartBusy},
	{PartBusy, savedWord, PartWhole},
	{PartBusy, notSavedWord, PartFailed}, // or stopped
}

// step changes the state of a part; failure says why it is not whole.
func (p SavedPart) step(on word, failure string) SavedPart {
	state, ok := savedParts.after(p.State, on)
	if !ok {
		return p
	}
	return SavedPart{State: state, Failure: failure}
}

// over takes the scripts' word.
func (p SavedPart) over(failure string) SavedPart {
	if failure != "" {
		return p.stopped(failure)
	}
	return p.step(savedWord, "")
}

// stopped returns the part when scripts that are at work are stopped.
func (p SavedPart) stopped(why string) SavedPart { return p.step(notSavedWord, why) }

// A KeptPart says what becomes of a checkpoint, and of the job's files, when a run is over. The
// numbers are in records on disk.
type KeptPart uint8

// States of a checkpoint that the part has kept.
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

// joint reports whether the job has programs that are to be saved besides its first.
func (t Task) joint() bool { return len(t.sisters()) > 0 || t.Programs.live() }

// savable reports whether the job may be checkpointed. When some of its hosts were released its next
// run is on all of them again, and not where the parts are.
func (t Task) savable() bool {
	return !t.interactive() && (len(t.sisters()) == 0 || t.Assignment.Number == 0)
}

// keepers returns the sisters' hosts, which keep parts of a checkpoint.
func (t Task) keepers() (all []pbs.HostName) {
	for _, h := range t.sisters() {
		all = append(all, h.Name)
	}
	return all
}

func (t Task) checkpointID() CheckpointID { return CheckpointID{t.Key.Run, t.Checkpoints.Attempt} }

// leftBehind tells what becomes of the checkpoint on this host. A sister that nobody has told keeps what it
// has, until the job's next run or the servers say more.
func (t Task) leftBehind() KeptPart {
	switch c := t.Checkpoints; {
	case c.Kept != 0:
		return c.Kept
	case t.Sister() && !t.Part.Why.Has(Dismissed) && (c.Attempt > 0 || c.Restart != nil):
		return PartGoesOn
	case t.Sister():
		return PartKnown
	case t.Result != nil && t.Result.Checkpointed, t.goesOn():
		return PartGoesOn
	case c.Restart == nil && (c.Hold.done() || c.Attempt > 0 && !c.Snap.exists()):
		return PartNone
	}
	return PartKnown
}

// stepPart decides what follows from an event of a sister's part of a checkpoint.
func (t Task) stepPart(ev Event) (next Task, actions []Action, err error, ok bool) {
	switch ev := ev.(type) {
	case SavePart:
		next, actions, err = sister{t}.savePart(ev)
		return next, actions, err, true
	case PartSaved:
		if ev.Number == t.Checkpoints.Attempt {
			t.Checkpoints.Part = t.Checkpoints.Part.over(ev.Failure)
		}
		return t, nil, nil, true
	case RestorePart:
		next, actions, err = sister{t}.stepRestore(ev)
		return next, actions, err, true
	case PartKept:
		t.Checkpoints.Kept = ev.Kept
		if t.Sister() && t.State() == Ended && ev.Kept != PartGoesOn {
			actions = append(actions, Action{Do: Clean})
		}
		return t, actions, nil, true
	}
	return t, nil, nil, false
}

func (t sister) savePart(ev SavePart) (Task, []Action, error) {
	switch {
	case !t.Sister() || t.State() != Running:
		return t.Task, nil, t.refused("checkpoint")
	case ev.Number == t.Checkpoints.Attempt:
		return t.Task, nil, nil
	case ev.Number < t.Checkpoints.Attempt:
		return t.Task, nil, pbs.Errorf(pbs.BadState, "a later checkpoint was asked for")
	case !ev.Able:
		return t.Task, nil, pbs.Errorf(pbs.NotSupported, "there is no $action checkpoint")
	}
	t.Checkpoints.Attempt, t.Checkpoints.Part = ev.Number, t.Checkpoints.Part.step(askWord, "")
	t.Checkpoints.Part.Whole = ev.Whole
	return t.Task, []Action{{Do: savePart}}, nil
}

// withoutPart stops the scripts of a part that ends.
func (t sister) withoutPart(actions []Action) (Task, []Action) {
	if t.Checkpoints.Part.State != PartBusy || t.State() == Running {
		return t.Task, actions
	}
	t.Checkpoints.Part = t.Checkpoints.Part.stopped("the part has ended")
	return t.Task, append(actions, Action{Do: Halt})
}
