package command

import (
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// KeepPending says what is kept for jobs that wait: all changes of one cycle of the scheduler (specification: reservation section 10.6).
type KeepPending struct {
	Turned pbs.Time     `cbor:"1,keyasint,omitempty"` // when the last dispatch turn was; 0: that stays as it is
	Jobs   []PendingJob `cbor:"2,keyasint,omitempty"`
}

// PendingJob holds what has changed of one job.
type PendingJob struct {
	Job    pbs.JobID `cbor:"1,keyasint"`
	Age    int32     `cbor:"2,keyasint,omitempty"`
	Paused bool      `cbor:"3,keyasint,omitempty"`

	Changed bool         `cbor:"4,keyasint,omitempty"` // what is held is as follows; else it stays as it is
	Since   pbs.Time     `cbor:"5,keyasint,omitempty"`
	Held    []state.Kept `cbor:"6,keyasint,omitempty"`

	Told      bool     `cbor:"7,keyasint,omitempty"` // the estimate is as follows; else it stays as it is
	Start     pbs.Time `cbor:"8,keyasint,omitempty"` // 0: there is none
	ExecVnode string   `cbor:"9,keyasint,omitempty"` // where; empty: that is not said

	Over bool `cbor:"10,keyasint,omitempty"` // nothing is known of it any more
}

// Apply takes over what is kept for jobs that still wait: one may have started, or gone, since the cycle was planned.
func (c *KeepPending) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if c.Turned > tx.Cluster().Turned {
		tx.EditCluster().Turned = c.Turned
	}
	for i := range c.Jobs {
		if j, ok := tx.Job(c.Jobs[i].Job); ok && j.MayStart() {
			next := *j
			c.Jobs[i].edit(&next)
			tx.PutJob(&next)
		}
	}
	return nil
}

func (p *PendingJob) edit(j *state.Job) {
	if p.Over {
		j.DropPending()
		return
	}
	next := state.Pending{Age: p.Age, Paused: p.Paused}
	if was := j.Pending; was != nil && !p.Changed {
		next.Since, next.Held = was.Since, was.Held
	} else {
		next.Since, next.Held = p.Since, p.Held
	}
	j.Pending = &next
	if !p.Told {
		return
	}
	j.ForgetStart()
	if p.Start != 0 {
		j.Attrs = j.Attrs.Set("estimated", "start_time", strconv.FormatInt(p.Start.Unix(), 10))
	}
	if p.ExecVnode != "" {
		j.Attrs = j.Attrs.Set("estimated", "exec_vnode", p.ExecVnode)
	}
}
