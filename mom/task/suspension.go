package task

import (
	"syscall"
	"time"
)

// A SuspensionState says whether the job's processes stand or go. The numbers are in records on disk.
type SuspensionState uint8

// The states of a suspension.
const (
	Going     SuspensionState = iota // as far as the servers know
	Suspended                        // they stand
	Resuming                         // they are to go on when hooks have run
	Resumed                          // they were let go on
)

// String returns the state as a word.
func (s SuspensionState) String() string {
	return nameOf([]string{Going: "going", Suspended: "suspended", Resuming: "resuming", Resumed: "resumed"}, s)
}

// A Suspension says whether the job stands, and how long it has. What it was for does not count as walltime.
type Suspension struct {
	State SuspensionState `json:"state,omitempty"`
	At    time.Duration   `json:"at,omitempty"`   // the job had been there for when it was suspended
	Idle  time.Duration   `json:"idle,omitempty"` // it was suspended for before
}

// Events of a suspension.
const (
	suspendWord  word = "suspend"
	resumeWord   word = "resume"
	hooksRunWord word = "hooks have run"
	stopWord     word = "SIGSTOP" // by its name: whoever stops the job does not want it to go on
	contWord     word = "SIGCONT" // so: the servers send it to no job that they know to be suspended
)

var suspensions = table[SuspensionState]{
	{Going, suspendWord, Suspended},
	{Suspended, resumeWord, Resuming},
	{Resuming, hooksRunWord, Resumed},
	{Resuming, suspendWord, Suspended},
	{Resuming, stopWord, Going},
	{Resuming, contWord, Resumed},
	{Resumed, suspendWord, Suspended},
	{Resumed, stopWord, Going},
	{Resumed, hooksRunWord, Resumed},
	{Going, hooksRunWord, Resumed}, // it was stopped meanwhile, and the servers want it to go on
}

// step changes the suspension of a job that has been there for elapsed; ok is false for what means nothing
// to it.
func (s Suspension) step(on word, elapsed time.Duration) (next Suspension, ok bool) {
	state, ok := suspensions.after(s.State, on)
	switch {
	case !ok:
		return s, false
	case s.State == Suspended:
		s.Idle += max(0, elapsed-s.At)
		s.At = 0
	case state == Suspended:
		s.At = elapsed
	}
	s.State = state
	return s, true
}

// signalled changes the suspension by a signal as qsig names it.
func (s Suspension) signalled(name string, elapsed time.Duration) Suspension {
	sig, _ := ParseSignal(name)
	on := word(suspension(name))
	switch {
	case on == "" && sig == syscall.SIGSTOP:
		on = stopWord
	case on == "" && sig == syscall.SIGCONT:
		on = contWord
	}
	next, _ := s.step(on, elapsed)
	return next
}

// stands reports whether the job is suspended.
func (s Suspension) stands() bool { return s.State == Suspended }

// Active returns how much of the time that a job has been there counts as its walltime.
func (s Suspension) Active(elapsed time.Duration) time.Duration {
	if s.stands() {
		elapsed = min(elapsed, s.At)
	}
	return max(0, elapsed-s.Idle)
}

// told returns the text with which a signal is sent here: hooks that had their turn do not run again.
func (s Suspension) told(name string) string {
	switch text := suspension(name); {
	case text == suspends && s.stands():
		return suspended
	case text == resumes && s.State == Resumed:
		return resumed
	default:
		return text
	}
}

// again returns what brings about that the processes stand, or go on: an earlier mom may not have come to it.
func (s Suspension) again() []Action {
	switch s.State {
	case Suspended:
		return []Action{{Do: Send, Signal: syscall.SIGSTOP, Text: suspended}}
	case Resuming:
		return []Action{{Do: Send, Signal: syscall.SIGCONT, Text: resumes}}
	case Resumed:
		return []Action{{Do: Send, Signal: syscall.SIGCONT, Text: resumed}}
	}
	return nil
}
