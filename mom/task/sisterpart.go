package task

// A PartStage is how far a sister's part is (specification: ramp-down section 9.3). The numbers are in records on
// disk; 0 says that the host is no sister.
type PartStage uint8

// The stages of a part.
const (
	PartAccepted PartStage = iota + 1 // the call is on disk, the servers are asked whether the run counts
	PartRunning                       // the host takes part
	PartEnding                        // its programs are told to end
	PartEpilogue                      // execjob_epilogue, or execjob_abort
	PartReport                        // a mother superior that goes on without the host saves what the part has used
	PartEnd                           // execjob_end
	PartFiles                         // the removal of what the run has left on the host
	PartOver                          // others may hear that it is over; something may still be removed
	PartClean                         // all of that is removed
)

// String returns the stage as a word.
func (s PartStage) String() string {
	return nameOf([]string{
		0: "none", PartAccepted: "accepted", PartRunning: "running", PartEnding: "ending", PartEpilogue: "epilogue",
		PartReport: "report", PartEnd: "end", PartFiles: "files", PartOver: "over", PartClean: "clean",
	}, s)
}

// A Part is what is known of a sister's part of a run.
type Part struct {
	Stage PartStage `json:"stage,omitempty"`
	Why   PartEnds  `json:"why,omitempty"`
	// Prologue is how far it is with the hooks before the program, Failure why they have refused.
	Prologue PrologueState `json:"prologue,omitempty"`
	Failure  string        `json:"failure,omitempty"`
}

// PartEnds are what ends a part; they can come together.
type PartEnds uint8

// Why a part ends.
const (
	Dismissed    PartEnds = 1 << iota // the run goes on without it
	Abandoned                         // the start has failed
	PartFenced                        // the deadline passed
	HooksRefused                      // its taking part
)

// Has reports whether one of them is why the part ends.
func (w PartEnds) Has(one PartEnds) bool { return w&one != 0 }

// Events of a part.
const (
	takesPartWord  word = "takes part"
	neverPartWord  word = "takes no part"
	endPartWord    word = "end it"
	noProgramsWord word = "its programs are over"
	hooksWord      word = "hooks have run"
	hooksRepWord   word = "hooks have run, of a released one"
	lastHooksWord  word = "the last hooks have run"
	reportedWord   word = "reported"
	removedWord    word = "removed"
	hangsWord      word = "the removal hangs"
)

var sisterStages = table[PartStage]{
	{PartAccepted, takesPartWord, PartRunning},
	{PartAccepted, neverPartWord, PartOver},
	{PartAccepted, noProgramsWord, PartEpilogue},
	{PartRunning, endPartWord, PartEnding},
	{PartRunning, noProgramsWord, PartEpilogue},
	{PartEnding, endPartWord, PartEnding},
	{PartEnding, noProgramsWord, PartEpilogue},
	{PartEpilogue, hooksWord, PartEnd},
	{PartEpilogue, hooksRepWord, PartReport},
	{PartEpilogue, lastHooksWord, PartFiles}, // of a start that has failed
	{PartReport, reportedWord, PartEnd},
	{PartEnd, lastHooksWord, PartFiles},
	{PartFiles, removedWord, PartClean},
	{PartFiles, hangsWord, PartOver},
}

// step changes the stage; ok is false for what means nothing in it.
func (p Part) step(on word) (next Part, ok bool) {
	p.Stage, ok = sisterStages.after(p.Stage, on)
	return p, ok
}

// concluded returns the part when the hooks of its stage have run.
func (p Part) concluded() (next Part, ok bool) {
	switch {
	case p.lastHooks():
		return p.step(lastHooksWord)
	case p.Why.Has(Dismissed):
		return p.step(hooksRepWord)
	}
	return p.step(hooksWord)
}

// lastHooks reports whether no hooks come after those of the stage.
func (p Part) lastHooks() bool { return p.Why.Has(Abandoned) || p.Stage == PartEnd }

// state returns the stage in the words of a task.
func (p Part) state() State {
	switch {
	case p.Stage >= PartOver:
		return Ended
	case p.Stage >= PartEpilogue:
		return Delivering
	case p.Stage == PartEnding:
		return Ending
	case p.Stage == PartRunning:
		return Running
	}
	return Accepted
}

// deeds returns what is to be done at a stage of the end.
func (p Part) deeds() []Action {
	switch p.Stage {
	case PartEpilogue, PartEnd:
		return []Action{{Do: Conclude}}
	case PartReport:
		return []Action{{Do: AwaitReport, After: hearFor}}
	case PartFiles:
		return []Action{{Do: Remove}}
	}
	return nil
}

// A PrologueState is how far a sister is with the hooks before the program. The numbers are in
// records on disk.
type PrologueState uint8

// The states of a sister's prologue.
const (
	PrologueUnasked PrologueState = iota
	PrologueAsked
	PrologueDone
	PrologueFailed
)

// String returns the state as a word.
func (s PrologueState) String() string {
	return nameOf([]string{PrologueUnasked: "unasked", PrologueAsked: "asked", PrologueDone: "done", PrologueFailed: "failed"}, s)
}

var prologueMoves = table[PrologueState]{
	{PrologueUnasked, askWord, PrologueAsked},
	{PrologueAsked, agreedWord, PrologueDone},
	{PrologueAsked, refusedWord, PrologueFailed},
}

// asksPrologue begins the hooks before the program; ok is false when they have begun before.
func (p Part) asksPrologue() (next Part, ok bool) {
	p.Prologue, ok = prologueMoves.after(p.Prologue, askWord)
	return p, ok
}

// prologueOver notes how the hooks went.
func (p Part) prologueOver(failure string) (next Part, ok bool) {
	on := agreedWord
	if failure != "" {
		on = refusedWord
	}
	if p.Prologue, ok = prologueMoves.after(p.Prologue, on); ok {
		p.Failure = failure
	}
	return p, ok
}
