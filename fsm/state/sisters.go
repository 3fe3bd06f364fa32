package state

import (
	"fmt"
	"slices"

	"rampart/fsm/pbs"
)

// Sister reports whether the host is a sister of the run and has not confirmed the end
// of its part.
func (r *Run) Sister(host pbs.HostName) bool {
	return slices.Contains(r.Sisters, host) && !slices.Contains(r.Over, host)
}

// LiveSisters returns the sisters of the run that have not confirmed the end of their part.
func (r *Run) LiveSisters() []pbs.HostName {
	if len(r.Over) == 0 {
		return r.Sisters
	}
	over := make(map[pbs.HostName]bool, len(r.Over))
	for _, h := range r.Over {
		over[h] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Sisters), func(h pbs.HostName) bool { return over[h] })
}

// Hosts returns the hosts of the present run, the mother superior first; none if it does not run.
func (j *Job) Hosts() []pbs.HostName {
	if !j.Live() {
		return nil
	}
	return append([]pbs.HostName{j.Run.MS}, j.Run.Sisters...)
}

// checkSisters verifies that only a live run has sisters, each once and none of them its
// mother superior.
func (t *tables) checkSisters(j *Job) error {
	r := j.LastRun()
	if len(r.Sisters)+len(r.Over) > 0 && !j.Live() {
		return fmt.Errorf("job %s in state %s has the sisters %v", j.ID, j.State, r.Sisters)
	}
	seen := map[pbs.HostName]bool{}
	for _, h := range j.Hosts() {
		if seen[h] {
			return fmt.Errorf("job %s has %s twice among its hosts", j.ID, h)
		}
		seen[h] = true
	}
	for _, h := range r.Over {
		if !seen[h] || h == r.MS {
			return fmt.Errorf("job %s has %s as a sister that has ended, which is none", j.ID, h)
		}
	}
	return nil
}
