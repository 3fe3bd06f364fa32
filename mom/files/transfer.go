package files

import (
	"errors"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A Transfer copies something of one run of a job, between this host and another or on
// this one.
type Transfer struct {
	Job  pbs.JobID
	Run  pbs.RunCount
	Out  bool   // from here to there, else from there to here
	Here string // absolute path on this host, a pattern if Out
	// Owner has the rights that count on this host, and User is the owner's name. A nil Owner is the
	// daemon itself.
	Owner *proc.Owner
	User  string
	Home  string // of the owner, on this host
	Host  string // the other host; empty: this one
	There string // path on Host as the job's attribute has it, on this host an absolute one
	// Remote is the owner's name on Host.
	Remote string
	Name   string // of a single file that goes into a folder; empty: its own
	// Output says that Here is a stream's file in the spool, which the daemon reads itself. Without Out it is to become what earlier runs have
	// written on Host, of the stream that There names: OU or ER.
	Output bool
}

// ErrUnreachable is in the chain of the error of a transfer to a host that did not answer to the
// last: other transfers to it would fare no better now.
var ErrUnreachable = errors.New("the host cannot be reached")

// Moved is what became of a Transfer.
type Moved struct {
	Sent  []string // paths that were read on this host, for Remove
	Wrote []string // paths that were made on this host, for Remove
	Same  bool     // both sides are the same file somewhere: Sent must stay
}
