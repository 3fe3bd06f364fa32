package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A Source is where a fact comes from: a place in the spool of a mom. The state
// keeps the highest contiguous number of each spool, so that a repeated report
// changes nothing (L9).
type Source struct {
	Host  pbs.HostName `cbor:"1,keyasint"`
	Spool string       `cbor:"2,keyasint"`
	Seq   uint64       `cbor:"3,keyasint"`
}

// take notes the fact. It reports false for one that was taken before; a gap, or a
// spool that the host has not registered, is refused.
func (s Source) take(tx *state.Tx, res *state.Result) (bool, error) {
	h, ok := tx.Host(s.Host)
	if !ok || h.SpoolID != s.Spool {
		return false, pbs.Errorf(pbs.InvalidRequest, "report of %s: the spool %s is not registered", s.Host, s.Spool)
	}
	res.Acked = h.Acked
	switch {
	case s.Seq <= h.Acked:
		return false, nil
	case s.Seq != h.Acked+1:
		return false, pbs.Errorf(pbs.InvalidRequest, "report of %s: fact %d follows %d", s.Host, s.Seq, h.Acked)
	}
	next := *h
	next.Acked = s.Seq
	res.Acked = s.Seq
	tx.PutHost(&next)
	return true, nil
}

// takeOf notes a fact that a mother superior tells of a run, and returns its job. It is nil for
// a fact that was taken before, and for one of another run, which changes nothing (L2).
func (s Source) takeOf(tx *state.Tx, id pbs.JobID, run pbs.RunCount, res *state.Result) (*state.Job, error) {
	fresh, err := s.take(tx, res)
	if err != nil || !fresh {
		return nil, err
	}
	j, ok := tx.Job(id)
	if !ok || !j.Is(run) || j.Run.MS != s.Host {
		return nil, nil
	}
	return j, nil
}

// JobStarted is the report that the program of a run was started.
type JobStarted struct {
	Source   Source       `cbor:"1,keyasint"`
	Job      pbs.JobID    `cbor:"2,keyasint"`
	RunCount pbs.RunCount `cbor:"3,keyasint"`
	Session  int64        `cbor:"4,keyasint"`
	JobDir   string       `cbor:"5,keyasint,omitempty"`
}

// Apply makes the run a running one. A report of another run changes nothing (L2).
func (c *JobStarted) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, err := c.Source.takeOf(tx, c.Job, c.RunCount, res)
	if err != nil || j == nil {
		return err
	}
	next := *j
	if err := move(&next, pbs.EventStarted); err != nil {
		return err
	}
	run := next.EditRun()
	run.Session, run.Used = c.Session, overlaid(nothingUsed(), cpusOf(j))
	next.FailedRuns, next.Avoid, next.Halted = 0, nil, ""
	cleared(tx, &next)
	if next.State == pbs.Running {
		next.Substate = pbs.SubRunning
	}
	if c.JobDir != "" {
		next.Attrs = next.Attrs.Set("jobdir", "", c.JobDir)
	}
	tx.PutJob(&next)
	if err := reserveFor(tx, m, &next); err != nil {
		return err
	}
	subjobRuns(tx, &next)
	tx.Emit(state.Event{Kind: startOf(&next), Job: &next, Unrecorded: run.Counted})
	if !run.Counted {
		adjusted(tx, &next)
	}
	judgeDependents(tx, &next)
	return nil
}

// nothingUsed returns what every record of usage tells at least (specification: accounting
// section 3), of a run that has used nothing yet.
func nothingUsed() resource.List {
	return resource.List{
		{Name: "cpupercent", Value: "0"},
		{Name: "cput", Value: "00:00:00"},
		{Name: "mem", Value: "0kb"},
		{Name: "ncpus", Value: "0"},
		{Name: "vmem", Value: "0kb"},
		{Name: "walltime", Value: "00:00:00"},
	}
}

// cpusOf returns how many cpus the run uses, as resources_used counts them.
func cpusOf(j *state.Job) resource.List {
	n, ok := j.Resources.Get("ncpus")
	if !ok {
		return nil
	}
	return resource.List{{Name: "ncpus", Value: n}}
}
