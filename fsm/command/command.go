package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Command is one change of the state.
type Command interface {
	// Apply makes the change, or refuses it with a *pbs.Error. It tells through res
	// what the asker wants to know.
	Apply(tx *state.Tx, m Meta, res *state.Result) error
}

// Meta is what a command knows besides the state.
type Meta struct {
	At    pbs.Time      // of the entry; never before that of an earlier one
	Index uint64        // of the entry
	Term  uint64        // of the entry
	ID    pbs.RequestID // of the proposal; empty for the leader's own
	Asker pbs.User      // who asked; zero for the leader's own
}

// A Proposal is an atomic list of commands with one outcome. One with an ID is
// remembered, and a repeat returns the first outcome (L8).
type Proposal struct {
	ID       pbs.RequestID
	Asker    pbs.User
	Commands []Command
	// Body is a hash of what was asked: another one under a known ID is refused.
	// 0: that of the commands.
	Body uint64

	body uint64 // Body, or the hash of the commands
}

// An Entry is what one entry of the Raft log carries.
type Entry struct {
	Time      pbs.Time
	Proposals []Proposal
}

// Outcome is the answer to one proposal.
type Outcome struct {
	Result   state.Result
	Refusal  *pbs.Error // nil: done
	Repeated bool       // the answer was remembered
}

// Err returns the refusal as an error, nil if the proposal took effect.
func (o Outcome) Err() error {
	if o.Refusal == nil {
		return nil
	}
	return o.Refusal
}

// MaxCommands bounds an entry; one bigger proposal goes alone.
const MaxCommands = 256
