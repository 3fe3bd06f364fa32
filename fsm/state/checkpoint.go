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

	// Places are the hosts of the chunks of Select, in their order, of a run over several hosts: each
	// of them keeps a part.
	Places []pbs.HostName `cbor:"6,keyasint,omitempty"`
}

// Keepers returns the hosts that keep a part of the checkpoint, Host first.
func (c *Checkpoint) Keepers() []pbs.HostName {
	if c == nil || c.Host == "" {
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

// Checkpointed tells whether the job starts from a checkpoint.
func (j *Job) Checkpointed() bool { return j.Checkpoint != nil && j.Checkpoint.Host != "" }

// Checkpointing tells whether the present run is being checkpointed.
func (j *Job) Checkpointing() bool { return j.Checkpoint != nil && j.Checkpoint.Asked }
