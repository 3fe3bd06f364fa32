package pbs

import "fmt"

// A JobState is where a job stands. The letters are those of qstat.
type JobState uint8

// The states of a job. The numbers are in every log and snapshot: append only.
const (
	Queued JobState = iota + 1
	Held
	Waiting
	Running
	Exiting
	Finished
	Begun // an array of which a subjob was started
)

// LetterExpired is the letter of a finished subjob whose array goes on.
const LetterExpired = "X"

var stateLetters = [...]byte{Queued: 'Q', Held: 'H', Waiting: 'W', Running: 'R', Exiting: 'E', Finished: 'F', Begun: 'B'}

// JobStates lists the states in the order of their numbers.
func JobStates() []JobState {
	return []JobState{Queued, Held, Waiting, Running, Exiting, Finished, Begun}
}

// Letter returns the state as qstat prints it, "?" for an unknown one.
func (s JobState) Letter() string {
	if s == 0 || int(s) >= len(stateLetters) {
		return "?"
	}
	return string(stateLetters[s])
}

// String returns the letter of the state.
func (s JobState) String() string { return s.Letter() }

// A Substate refines a state with the number that PBS shows for it.
type Substate uint16

// The substates in use (specification: cli-contract section 3).
const (
	SubQueued      Substate = 10
	SubStageIn     Substate = 13 // its files are on their way, then it runs
	SubHeld        Substate = 20
	SubDependent   Substate = 22 // held by dependencies
	SubWaiting     Substate = 30
	SubStageFailed Substate = 37 // waits since its files did not come
	SubStarting    Substate = 41
	SubRunning     Substate = 42
	SubSuspended   Substate = 43 // by somebody's request
	// SubSchedSuspended is suspended until the scheduler finds it room again.
	SubSchedSuspended Substate = 45
	SubStageOut       Substate = 51
	SubExiting        Substate = 53
	SubAborting       Substate = 55
	SubRerunning      Substate = 60
	SubBegun          Substate = 70
	SubTerminated     Substate = 91
	SubFinished       Substate = 92
	SubFailed         Substate = 93
)

// An Event is what may happen to a job.
type Event uint8

// The events of a job's life.
const (
	EventHold    Event = iota + 1 // a hold was set
	EventRelease                  // the last hold was removed
	EventRun                      // vnodes were assigned, the mom has its order
	EventStarted                  // the mother superior reports the session
	EventDelete                   // somebody wants it gone
	EventRerun                    // somebody wants it back in the queue
	EventEnded                    // the mother superior reports the end
	EventRequeue                  // the run is over and the job is to run again
	EventBegin                    // the first subjob of an array was started
	EventWait                     // its time to be eligible is to come
	EventDue                      // that time has come
	EventExiting                  // the program has ended, its files are on their way
	EventKept                     // a hook on the mother superior has refused the deletion
)

var eventNames = [...]string{
	EventHold: "hold", EventRelease: "release", EventRun: "run", EventStarted: "started", EventDelete: "delete",
	EventRerun: "rerun", EventEnded: "ended", EventRequeue: "requeue",
	EventBegin: "begin", EventWait: "wait", EventDue: "due",
	EventExiting: "exiting", EventKept: "kept",
}

// Events lists the events in the order of their numbers.
func Events() []Event {
	all := make([]Event, 0, len(eventNames)-1)
	for e := EventHold; int(e) < len(eventNames); e++ {
		all = append(all, e)
	}
	return all
}

// String returns the event as a word.
func (e Event) String() string {
	if e == 0 || int(e) >= len(eventNames) {
		return "?"
	}
	return eventNames[e]
}

type edge struct {
	from  JobState
	event Event
}

// transitions lists every legal move of a job. What is absent is refused (L5).
var transitions = map[edge]JobState{
	{Queued, EventHold}:   Held,
	{Queued, EventRun}:    Running,
	{Queued, EventDelete}: Finished,
	{Queued, EventBegin}:  Begun,
	{Queued, EventWait}:   Waiting,

	{Held, EventHold}:    Held,
	{Held, EventRelease}: Queued,
	{Held, EventDelete}:  Finished,

	{Waiting, EventHold}:   Held,
	{Waiting, EventDelete}: Finished,
	{Waiting, EventDue}:    Queued,

	{Begun, EventHold}:  Held, // subjobs that run go on
	{Begun, EventEnded}: Finished,

	{Running, EventHold}:    Running, // takes effect when it is requeued
	{Running, EventRelease}: Running,
	{Running, EventStarted}: Running,
	{Running, EventDelete}:  Exiting,
	{Running, EventRerun}:   Exiting,
	{Running, EventExiting}: Exiting,
	{Running, EventEnded}:   Finished,
	{Running, EventRequeue}: Queued,

	{Exiting, EventHold}:    Exiting,
	{Exiting, EventRelease}: Exiting,
	{Exiting, EventStarted}: Exiting, // the report was under way when the job was deleted
	{Exiting, EventDelete}:  Exiting,
	{Exiting, EventExiting}: Exiting,
	{Exiting, EventKept}:    Running,
	{Exiting, EventEnded}:   Finished,
	{Exiting, EventRequeue}: Queued,
}

// After returns the state that follows from ev. An illegal move is refused with
// BadState, or HasFinished for a job of the history.
func (s JobState) After(ev Event) (JobState, error) {
	next, ok := transitions[edge{s, ev}]
	switch {
	case ok:
		return next, nil
	case s == Finished:
		return s, Refuse(HasFinished)
	default:
		return s, fmt.Errorf("%s of a job in state %s: %w", ev, s, Refuse(BadState))
	}
}
