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

// StoppedByLoad returns by what load the run is suspended, or is about to be; nil: by none.
func (r *Run) StoppedByLoad() *LoadStop {
	if s := r.LoadStop; s != nil && s.Host != "" {
		return s
	}
	return nil
}

// ChangedByLoad returns when the run was last suspended or resumed by load, 0 if it never was.
func (r *Run) ChangedByLoad() pbs.Time {
	if s := r.LoadStop; s != nil {
		return s.At
	}
	return 0
}

// comment says by what load a run is suspended.
func (s *LoadStop) comment() string { return lsf.LoadComment(pbs.ShortHost(s.Host), s.Indices) }
