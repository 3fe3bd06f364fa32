package lsf

import "rampart/fsm/lsf"

// loadStopped returns by what load of which host a job is suspended; false: by none.
func (j job) loadStopped() (host string, indices []string, ok bool) {
	if j.state != lsf.SysSuspended {
		return "", nil, false
	}
	return lsf.ReadLoadComment(j.get("comment"))
}

// suspendingReason returns why a job is suspended (specification: reservation section 9.7).
func (j job) suspendingReason() string {
	if _, indices, byLoad := j.loadStopped(); byLoad {
		return lsf.ReasonStopped(indices)
	}
	switch {
	case j.get("lsf_resumed") == "True":
		return lsf.ReasonResumed
	case j.state == lsf.SysSuspended:
		return lsf.ReasonRoom
	}
	return lsf.ReasonSuspended
}

// suspendedEvent tells in the long form what has suspended a job.
func (j job) suspendedEvent() string {
	switch host, _, byLoad := j.loadStopped(); {
	case byLoad:
		return "Suspended by the load of host <" + host + ">;"
	case j.state == lsf.SysSuspended && j.get("lsf_resumed") != "True":
		return "Suspended by the scheduler;"
	}
	return "Suspended by the user;"
}
