package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// HostTrouble says that a mom which lives cannot take jobs, or can again.
type HostTrouble struct {
	Host pbs.HostName `cbor:"1,keyasint"`
	Text string       `cbor:"2,keyasint,omitempty"` // why; empty: it can
	// Proved is the Host.SickSince for which the mom has proved that it can start jobs; 0: it has not.
	Proved pbs.Time `cbor:"3,keyasint,omitempty"`
	// Unstarted are runs whose programs did not run and never will, of which the mom's disk does not
	// take the facts.
	Unstarted []UnstartedRun `cbor:"4,keyasint,omitempty"`
	// Busy says that its load is too high for new jobs.
	Busy bool `cbor:"5,keyasint,omitempty"`
}

// UnstartedRun is a run that its mom cannot start, and why.
type UnstartedRun struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
	Reason   string       `cbor:"3,keyasint,omitempty"`
}

// Apply marks the host's vnodes; jobs that run there stay.
func (c *HostTrouble) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	for _, run := range c.Unstarted {
		if err := run.giveBack(tx, m, c.Host); err != nil {
			return err
		}
	}
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	next := *h
	next.Trouble, next.Busy = c.Text, c.Busy
	if c.Proved != 0 && c.Proved == h.SickSince {
		next.Sick, next.SickSince, next.Fails = "", 0, 0
	}
	if next.Trouble != h.Trouble || next.Sick != h.Sick || next.Busy != h.Busy {
		putHealth(tx, m, h, &next)
	}
	return nil
}

// Waits reports whether the run counts, and its program was not accepted yet.
func (r UnstartedRun) Waits(j *state.Job, host pbs.HostName) bool {
	return j.Is(r.RunCount) && j.Run.MS == host && j.Run.Session == 0
}

// giveBack ends the run as one that was never started. The fact of its end, which comes when the disk
// takes it, is then that of an earlier run.
func (r UnstartedRun) giveBack(tx *state.Tx, m Meta, host pbs.HostName) error {
	j, ok := tx.Job(r.Job)
	if !ok || !r.Waits(j, host) {
		return nil
	}
	dropOrders(tx, host, r.Job, r.RunCount)
	next := *j
	end := JobEnded{Job: r.Job, RunCount: r.RunCount, ExitStatus: pbs.ExitRetry, NeverStarted: true, Comment: r.Reason, Fault: host}
	run := next.EditRun()
	run.ExitStatus, run.HasExited = end.ExitStatus, true
	ended, err := end.releaseAtEnd(tx, m, &next)
	if err != nil {
		return err
	}
	return end.conclude(tx, m, ended)
}

// conditions returns what a host that is up says of all of its vnodes.
func conditions(h *state.Host) (flags state.VnodeFlags) {
	if h.Ailment() != "" {
		flags |= state.VnodeTroubled
	}
	if h.Busy {
		flags |= state.VnodeBusy
	}
	return flags
}
