package state

import "rampart/fsm/pbs"

// A Checkpoint is what is known of a job's last checkpoint: the job starts from it, on the hosts that keep it. Replaced,
// never written to.
type Checkpoint struct {
	Host    pbs.HostName `cbor:"1,keyasint,omitempty"` // that keeps it
	Session int64        `cbor:"2,keyasint,omitempty"` // of the run that was checkpointed
	Select  string       `cbor:"3,keyasint,omitempty"` // SchedSelect before it was bound to Host

	// Places are the hosts of the chunks of Select, in their order, of a run over several hosts: each
	// of them keeps a part.
	Places []pbs.HostName `cbor:"4,keyasint,omitempty"`
}

// A CheckpointAsk is the wish to checkpoint a run and to end it.
type CheckpointAsk struct {
	Undo pbs.Holds `cbor:"1,keyasint,omitempty"` // set by who asked, taken back if it fails
}

// Keepers returns the hosts that keep a part of the checkpoint, Host first.
func (c *Checkpoint) Keepers() []pbs.HostName {
	if c == nil {
		return nil
	}
	all, met := []pbs.HostName{c.Host}, map[pbs.HostName]bool{c.Host: true}
	for _, host := range c.Places {
		if !met[host] {
			met[host] = true
			all = append(all, host)
		}
	}
	return all
}

// Checkpointed reports whether the job starts from a checkpoint.
func (j *Job) Checkpointed() bool { return j.Checkpoint != nil }

// Checkpointing reports whether the run is being checkpointed.
func (r *Run) Checkpointing() bool { return r.Checkpoint != nil }
