package task

// A StagingState is how far the files of a run are. The numbers are in records on disk.
type StagingState uint8

// The states of the files.
const (
	FilesAway StagingState = iota // nothing was brought
	StagingIn                     // they are on their way to this host
	FilesHere                     // they have come
	FilesOut                      // they were staged out, but for what Failure tells
)

// String returns the state as a word.
func (s StagingState) String() string {
	return nameOf([]string{FilesAway: "away", StagingIn: "staging in", FilesHere: "here", FilesOut: "out"}, s)
}

// A Staging is what has become of the files that a job names.
type Staging struct {
	State   StagingState `json:"state,omitempty"`
	Failure string       `json:"failure,omitempty"` // of the stage-out
	// Dead are hosts that the stage-out has given up: the output does not wait for them again.
	Dead map[string]string `json:"dead,omitempty"`
}

// Events of the files.
const (
	stageInWord  word = "stage in"
	comeWord     word = "they have come"
	notComeWord  word = "they have not come" // or the mom was restarted, or the run has ended
	stageOutWord word = "staged out"
)

var stagings = table[StagingState]{
	{FilesAway, stageInWord, StagingIn},
	{StagingIn, comeWord, FilesHere},
	{StagingIn, notComeWord, FilesAway},
	{FilesAway, stageOutWord, FilesOut}, // none were to be brought
	{FilesHere, stageOutWord, FilesOut},
	{FilesOut, stageOutWord, FilesOut}, // a repeat
}

// step changes the state of the files.
func (s Staging) step(on word) Staging {
	s.State, _ = stagings.after(s.State, on)
	return s
}

// out notes how the stage-out went.
func (s Staging) out(ev StagedOut) Staging {
	s = s.step(stageOutWord)
	s.Failure, s.Dead = ev.Failure, ev.Dead
	return s
}

// underWay reports whether the files are on their way to this host.
func (s Staging) underWay() bool { return s.State == StagingIn }

// Here returns the files of a run that finds its own where an earlier one has left them.
func (s Staging) Here() Staging { return s.step(stageInWord).step(comeWord) }

// isOut reports whether the stage-out is over.
func (s Staging) isOut() bool { return s.State == FilesOut }
