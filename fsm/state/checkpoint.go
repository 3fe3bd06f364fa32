package state

import "rampart/fsm/pbs"

// A Checkpoint is what is known of a job's last checkpoint, and of one under way. A job that
// has one starts from it, on the host that keeps it. Replaced, never written to.
type Checkpoint struct {
	Asked bool      `cbor:"1,keyasint,omitempty"` // the present run is being checkpointed and ended
	Undo  pbs.Holds `cbor:"2,keyasint,omitempty"` // set by who asked, taken back if it fails

	Host    pbs.HostName `cbor:"3,keyasint,omitempty"` // that keeps the checkpoint; empty: there is none yet
	Session int64        `cbor:"4,keyasint,omitempty"` // of the run that was checkpointed
	Select  string       `cbor:"5,keyasint,omitempty"` // SchedSelect before it was bound to Host
}

// Checkpointed tells whether the job starts from a checkpoint.
func (j *Job) Checkpointed() bool { return j.Checkpoint != nil && j.Checkpoint.Host != "" }

// Checkpointing tells whether the present run is being checkpointed.
func (j *Job) Checkpointing() bool { return j.Checkpoint != nil && j.Checkpoint.Asked }
