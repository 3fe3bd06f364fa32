package cluster

import "errors"

// There are three kinds of "no" to a proposal (L6): a refusal (*pbs.Error: final,
// the same on every replica), ErrNotLeader (nothing happened here, try the
// leader), and ErrOutcomeUnknown (it may yet take effect: ask again with the same
// request id).
var (
	// ErrNotLeader means that the proposal never entered the log, or that the read
	// could not be confirmed: this replica does not lead, or no leader is known.
	ErrNotLeader = errors.New("not the leader")

	// ErrOutcomeUnknown means that the proposal may have been committed, or may yet
	// be: leadership was lost, the caller's context ended, or the replica stops.
	ErrOutcomeUnknown = errors.New("outcome unknown")

	// ErrBusy comes with a refusal (pbs.ResourceBusy): too many proposals wait
	// already, and this one was not added.
	ErrBusy = errors.New("too many proposals wait")

	// ErrKilled, as the cause of the end of Run's context, makes Run stop as a killed
	// process would: no transfer of leadership, nothing more sent.
	ErrKilled = errors.New("killed")
)
