package task

import "rampart/mom/proc"

// A HoldState is how far a checkpoint is after which the run ends. The numbers are in records on disk.
type HoldState uint8

// The states of such a checkpoint.
const (
	NotHeld     HoldState = iota
	HoldSaving            // the script of the site is at work
	HoldAwaited           // the program has ended: whether the checkpoint counts the script says
	HoldDone              // it is made; nothing of the run goes on
	HoldFailed            // the job runs on
	HoldUnknown           // the mom died with the script: whether it ended the job nobody can tell
)

// String returns the state as words.
func (s HoldState) String() string {
	return nameOf([]string{
		NotHeld: "none", HoldSaving: "saving", HoldAwaited: "awaited", HoldDone: "done", HoldFailed: "failed", HoldUnknown: "unknown",
	}, s)
}

// A Hold is a checkpoint after which the run ends.
type Hold struct {
	State   HoldState  `json:"state,omitempty"`
	Joint   bool       `json:"joint,omitempty"`   // of several programs: none ends before all are saved
	Exit    *proc.Exit `json:"exit,omitempty"`    // of the program, while the script is awaited
	Failure string     `json:"failure,omitempty"` // the last one's
}

// Events of a hold.
const (
	askWord       word = "ask"
	exitWord      word = "the program ends"
	jointExitWord word = "one of several programs ends"
	savedWord     word = "saved"
	notSavedWord  word = "not saved"
	restartWord   word = "the mom restarts"
	jointOverWord word = "the mom restarts, of several programs"
)

var holds = table[HoldState]{
	{NotHeld, askWord, HoldSaving},
	{HoldFailed, askWord, HoldSaving},
	{HoldUnknown, askWord, HoldSaving},
	{HoldSaving, savedWord, HoldDone},
	{HoldSaving, notSavedWord, HoldFailed},
	{HoldSaving, exitWord, HoldAwaited},
	{HoldSaving, jointExitWord, HoldFailed},
	{HoldSaving, restartWord, HoldUnknown},
	{HoldSaving, jointOverWord, HoldFailed},
	{HoldAwaited, savedWord, HoldDone},
	{HoldAwaited, notSavedWord, HoldFailed},
	{HoldAwaited, restartWord, HoldUnknown},
}

// step changes the state; failure says why, if one follows. ok is false for what means nothing now.
func (h Hold) step(on word, failure string) (next Hold, ok bool) {
	state, ok := holds.after(h.State, on)
	if !ok {
		return h, false
	}
	next = Hold{State: state}
	if state == HoldFailed || state == HoldUnknown {
		next.Failure = failure
	}
	return next, true
}

// ask begins a checkpoint, unless one is under way or done.
func (h Hold) ask(joint bool) (next Hold, ok bool) {
	next, ok = h.step(askWord, "")
	next.Joint = ok && joint || !ok && h.Joint
	return next, ok
}

// exited takes the end of the job's program; waits says that it is the script's turn, fails that there is
// nothing any more that could be saved as a whole.
func (h Hold) exited(e proc.Exit, runs bool) (next Hold, waits, fails bool) {
	if h.Joint && runs {
		next, fails = h.step(jointExitWord, "the job has ended")
		return next, false, fails
	}
	next, waits = h.step(exitWord, "")
	if waits {
		next.Exit = &e
	}
	return next, waits, false
}

// over takes the script's word.
func (h Hold) over(failure string) (next Hold, ok bool) {
	if failure != "" {
		return h.step(notSavedWord, failure)
	}
	return h.step(savedWord, "")
}

// restarted returns what is left of the checkpoint when the mom comes back: the script died with the earlier one.
func (h Hold) restarted() (next Hold, failed bool) {
	if h.Joint {
		return h.step(jointOverWord, "the mom was restarted")
	}
	return h.step(restartWord, "the mom was restarted")
}

// underWay reports whether the script is at work.
func (h Hold) underWay() bool { return h.State == HoldSaving || h.State == HoldAwaited }

// done reports whether the checkpoint is made.
func (h Hold) done() bool { return h.State == HoldDone }
