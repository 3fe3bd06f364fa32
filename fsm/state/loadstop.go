package state

import (
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
)

// A LoadStop is what the scheduler did last to a run by the load of a host of it (specification: reservation section 9.7).
type LoadStop struct {
	At      pbs.Time     `cbor:"1,keyasint"`           // when it was to be suspended, or to go on
	Host    pbs.HostName `cbor:"2,keyasint,omitempty"` // whose load was beyond loadStop; empty: the run is to go on
	Indices []string     `cbor:"3,keyasint,omitempty"` // those that were
}

// StoppedByLoad returns by what load the present run of a job is suspended, or is about to be; nil: by none.
func (j *Job) StoppedByLoad() *LoadStop {
	if s := j.LastRun().LoadStop; s != nil && s.Host != "" {
		return s
	}
	return nil
}

// ChangedByLoad returns when a run was last suspended or resumed by load, 0 if it never was.
func (j *Job) ChangedByLoad() pbs.Time {
	if s := j.LastRun().LoadStop; s != nil {
		return s.At
	}
	return 0
}

// loadComment says by what load a suspended job is suspended; empty: by none.
func (j *Job) loadComment() string {
	s := j.StoppedByLoad()
	if s == nil || !j.Suspended() {
		return ""
	}
	return lsf.LoadComment(pbs.ShortHost(s.Host), s.Indices)
}
