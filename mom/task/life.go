package task

import (
	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// A State is where a task stands. The numbers are in records on disk.
type State uint8

// The states of a task. A sister's part is told to others in the same words, but for joining and gathering.
const (
	Accepted   State = iota + 1 // the order is on disk, the script is on its way
	Joining                     // the script is on disk, the sisters are being asked
	Starting                    // the shim is being started, or runs unknown to us
	Running                     // the shim and the session are known
	Ending                      // signals were sent, or are about to be
	Gathering                   // the job's first program has ended; other programs and the sisters' parts are to
	Delivering                  // all processes are gone, the output is on its way
	Ended                       // nothing is left to do but to be told to forget
)

// String returns the state as a word, as pictures and people's commands have it.
func (s State) String() string {
	return nameOf([]string{
		Accepted: "accepted", Joining: "joining", Starting: "starting", Running: "running",
		Ending: "ending", Gathering: "gathering", Delivering: "delivering", Ended: "ended",
	}, s)
}

// starting reports whether the program is being started.
func (s State) starting() bool { return s == Joining || s == Starting }

// unstarted reports whether the program is still to be started.
func (s State) unstarted() bool { return s == Accepted || s.starting() }

// A Life is the state of a run at its mother superior, with the reasons to end it.
type Life struct {
	State   State      `json:"state,omitempty"`
	Kill    KillOrder  `json:"kill,omitzero"`
	Sisters PartsState `json:"sisters,omitempty"`
	Causes  Causes     `json:"causes,omitempty"`
	// LostHost is the sister whose loss ends the run, Breach the exit status that says which limit it exceeded.
	LostHost  pbs.HostName `json:"lost_host,omitempty"`
	Breach    int          `json:"breach,omitempty"`
	Signals   []string     `json:"signals,omitempty"` // to be sent once it runs
	JobDir    string       `json:"jobdir,omitempty"`
	StartedAt int64        `json:"started_at,omitempty"` // nanoseconds of the wall clock
	Trial     *Trial       `json:"trial,omitempty"`      // of a start that tolerates failures
	// Pruned says that hooks have cut the assignment down, or given some of it back.
	Pruned bool `json:"pruned,omitempty"`
	// Barred says that no shim has run the program, nor ever will: only then may the end
	// say that it was never started.
	Barred bool `json:"barred,omitempty"`
}

// Events of a life.
const (
	beginJoinWord word = "begin, with sisters"
	beginWord     word = "begin"
	joinedWord    word = "the sisters have joined"
	noShimWord    word = "no shim was started"
	shimWord      word = "the shim runs"
	endItWord     word = "end it"
	programOver   word = "the program is over, or never was"
	allOverWord   word = "all parts are over"
	shimFirstWord word = "a shim was faster"
	deliveredWord word = "delivered"
)

var lives = table[State]{
	{Accepted, beginJoinWord, Joining},
	{Accepted, beginWord, Starting},
	{Joining, joinedWord, Starting},
	{Joining, restartWord, Accepted}, // joins can be repeated
	{Starting, noShimWord, Accepted},
	{Starting, shimWord, Running},
	{Running, endItWord, Ending},
	{Ending, endItWord, Ending},
	{Accepted, programOver, Gathering},
	{Joining, programOver, Gathering},
	{Starting, programOver, Gathering},
	{Running, programOver, Gathering},
	{Ending, programOver, Gathering},
	{Gathering, allOverWord, Delivering},
	{Delivering, allOverWord, Delivering}, // a sister was waited for behind the stage-out
	{Delivering, shimFirstWord, Starting},
	{Delivering, deliveredWord, Ended},
}

// step changes the state; what means nothing in it changes nothing.
func (l Life) step(on word) Life {
	l.State, _ = lives.after(l.State, on)
	return l
}

// to is step for a task.
func (t Task) to(on word) Task {
	t.Life = t.Life.step(on)
	return t
}

// A PartsState is how far a mother superior is with the parts of its sisters. The numbers are in records on disk.
type PartsState uint8

// The states of the parts.
const (
	PartsUnasked  PartsState = iota
	PartsAsked               // they may have begun
	PartsKilled              // their programs were told to end, but not they
	PartsGathered            // they were told to end
)

// String returns the state as a word.
func (s PartsState) String() string {
	return nameOf([]string{PartsUnasked: "unasked", PartsAsked: "asked", PartsKilled: "killed", PartsGathered: "gathered"}, s)
}

// Events of the parts.
const (
	killedWord   word = "programs were told to end"
	gatheredWord word = "told to end"
)

var sisterParts = table[PartsState]{
	{PartsUnasked, beginJoinWord, PartsAsked},
	{PartsAsked, killedWord, PartsKilled},
	{PartsAsked, gatheredWord, PartsGathered},
	{PartsKilled, gatheredWord, PartsGathered},
}

// sistersTo changes how far the mother superior is with the parts; ok is false for what means nothing.
func (l Life) sistersTo(on word) (next Life, ok bool) {
	l.Sisters, ok = sisterParts.after(l.Sisters, on)
	return l, ok
}

// open reports whether sisters may have parts that were not told to end.
func (s PartsState) open() bool { return s == PartsAsked || s == PartsKilled }

// Causes are what ends a run besides somebody's wish; they can come together.
type Causes uint8

// The causes.
const (
	Aborted Causes = 1 << iota // the mom was stopped, or does not adopt it
	Fenced                     // the deadline passed: the servers may have given it up
)

func (c Causes) has(one Causes) bool { return c&one != 0 }

// forced reports whether the run is to end, and nobody is asked or waited for.
func (l Life) forced() bool { return l.Causes != 0 }

// condemned reports whether the run is to end for a cause that was there before its program.
func (l Life) condemned() bool { return l.forced() || l.Kill.ordered() }

// A Reports says which of the facts that a run has begun and is over are in the spool. The numbers are in
// records on disk.
type Reports uint8

// States of the reports of a run.
const (
	NothingTold Reports = iota
	StartTold
	EndTold
)

// String returns the state as words.
func (r Reports) String() string {
	return nameOf([]string{NothingTold: "nothing", StartTold: "start told", EndTold: "end told"}, r)
}

// Events of the reports.
const (
	startToldWord word = "start is in the spool"
	endToldWord   word = "end is in the spool"
)

var reportings = table[Reports]{
	{NothingTold, startToldWord, StartTold},
	{NothingTold, endToldWord, EndTold}, // it was never started, or is a part
	{StartTold, endToldWord, EndTold},
}

func (r Reports) step(on word) Reports {
	next, _ := reportings.after(r, on)
	return next
}

// Told reports whether the fact that the run is over, or the part, is in the spool.
func (r Reports) Told() bool { return r == EndTold }

func (t Task) startedFact() spool.Fact {
	return spool.Fact{Task: t.Key, Started: &spool.Started{Session: t.Handle.Session, JobDir: t.Life.JobDir, At: t.Life.StartedAt}}
}

func (t Task) endedFact() spool.Fact { return spool.Fact{Task: t.Key, Ended: t.Result} }
