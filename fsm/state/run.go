package state

import (
	"fmt"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Run is one execution of a job, from its start order on. What is said of it is gone with it when the job is
// queued again; a job that is over keeps its last one. Replaced, never written to: see EditRun.
type Run struct {
	Number pbs.RunCount `cbor:"1,keyasint"`
	MS     pbs.HostName `cbor:"2,keyasint,omitempty"` // mother superior

	alloc.Assignment `cbor:"3,keyasint"`

	Assigned resource.List  `cbor:"5,keyasint,omitempty"` // what it is charged with: resource_assigned.* of accounting
	Sisters  []pbs.HostName `cbor:"6,keyasint,omitempty"` // its other hosts, in the order of exec_host; none when it is over
	Over     []pbs.HostName `cbor:"7,keyasint,omitempty"` // those of them whose part of it has ended (L2)

	Session int64         `cbor:"8,keyasint,omitempty"`  // 0 until the program was accepted
	Counted bool          `cbor:"9,keyasint,omitempty"`  // accounting has its start, though the program was not yet accepted
	Used    resource.List `cbor:"10,keyasint,omitempty"` // resources_used

	Phases  *Phases  `cbor:"11,keyasint,omitempty"` // what releases have changed; nil: none has. Replaced, never written to
	Release *Release `cbor:"12,keyasint,omitempty"` // one that was asked for and is not done; replaced, never written to

	Suspension *Suspension    `cbor:"30,keyasint,omitempty"` // nil: it is not suspended, or gave back all; replaced, never written to
	Preemption *Preemption    `cbor:"13,keyasint,omitempty"` // nil: nobody has tried; replaced, never written to
	Checkpoint *CheckpointAsk `cbor:"14,keyasint,omitempty"` // nil: it is not being checkpointed; replaced, never written to

	Ending     Ending `cbor:"15,keyasint,omitempty"` // why it ends, if somebody wants that
	ExitStatus int32  `cbor:"16,keyasint,omitempty"`
	HasExited  bool   `cbor:"17,keyasint,omitempty"` // ExitStatus means something
	EndedBy    string `cbor:"18,keyasint,omitempty"` // USER@HOST who has ended its reservation, and it with that

	StoppedAt  pbs.Time `cbor:"19,keyasint,omitempty"` // when it was suspended; 0: it is not
	StoppedFor pbs.Time `cbor:"20,keyasint,omitempty"` // how long it was suspended in all, but for now
	Refused    bool     `cbor:"22,keyasint,omitempty"` // hooks did not let it go on, as its comment says

	LoadStop *LoadStop `cbor:"23,keyasint,omitempty"` // nil: nobody has suspended it by load; replaced, never written to

	Fades []Fade `cbor:"21,keyasint,omitempty"` // of what it was given that it holds for a time only; replaced, never written to
}

// noRun is what a job has that waits.
var noRun Run

// LastRun returns the run of the job: the live one, or the last one of a job that is over. That of a job that waits is
// empty. It is not to be written to.
func (j *Job) LastRun() *Run {
	if j.Run == nil {
		return &noRun
	}
	return j.Run
}

// EditRun returns the run of a job that has one for changes: a copy of which only this job knows.
func (j *Job) EditRun() *Run {
	r := *j.Run
	j.Run = &r
	return &r
}

// Begin gives a job that waits its next run, which has nothing yet. What was noted of the wait is dropped.
func (j *Job) Begin(at pbs.Time) *Run {
	j.RunCount++
	j.Started, j.Ousted = at, nil
	j.DropEstimate()
	j.Run = &Run{Number: j.RunCount}
	return j.Run
}

// Stopped returns how long the run was suspended until now.
func (r *Run) Stopped(now pbs.Time) pbs.Time {
	if r.StoppedAt == 0 {
		return r.StoppedFor
	}
	return r.StoppedFor + max(0, now-r.StoppedAt)
}

// RunningSince returns when the run of the job would have started had it run without a break until now: walltimes count no time
// in which it was suspended.
func (j *Job) RunningSince(now pbs.Time) pbs.Time { return j.Started + j.LastRun().Stopped(now) }

// Live reports whether a run of the job is on: its mother superior has its order, and its end is not confirmed.
func (j *Job) Live() bool { return j.State == pbs.Running || j.State == pbs.Exiting }

// Is reports whether the live run of the job has the number: what is told of any other run changes nothing (L2).
func (j *Job) Is(run pbs.RunCount) bool { return j.Live() && j.LastRun().Number == run }

// Of reports whether the share of a vnode belongs to the job's live run.
func (held *VnodeJob) Of(j *Job) bool { return j.ID == held.Job && j.Is(held.RunCount) }

// Of reports whether the order is about the job's live run.
func (o *Order) Of(j *Job) bool { return j.ID == o.Job && j.Is(o.RunCount) }

// About reports whether the order is about a run, be it over.
func (o *Order) About(job pbs.JobID, run pbs.RunCount) bool { return o.Job == job && o.RunCount == run }

// Exit returns Exit_status; false if the job has none.
func (j *Job) Exit() (status int32, ok bool) {
	if a := j.Array; a != nil {
		if a.Failed {
			status = 1
		}
		return status, j.State == pbs.Finished && a.Begun
	}
	r := j.LastRun()
	return r.ExitStatus, r.HasExited
}

// Runs returns the job's run_count as people see it: how often it was started, or what was set and how
// often it was since.
func (j *Job) Runs() int64 { return int64(j.RunCount) + j.RunBase }

// checkRun verifies that a live job has a run, a job that waits none, and that the run has its number.
func checkRun(j *Job) error {
	switch {
	case j.Live() && (j.Run == nil || j.Run.MS == "" || j.Run.Number != j.RunCount):
		return fmt.Errorf("job %s in state %s at run %d has the run %+v", j.ID, j.State, j.RunCount, j.LastRun())
	case j.Run != nil && !j.Live() && j.State != pbs.Finished:
		return fmt.Errorf("job %s in state %s has run %d", j.ID, j.State, j.Run.Number)
	}
	return nil
}
