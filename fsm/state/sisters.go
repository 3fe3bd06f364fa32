package state

import (
	"fmt"
	"slices"

	"rampart/fsm/pbs"
)

// Sister tells whether the host is a sister of the present run and has not confirmed the end
// of its part.
func (j *Job) Sister(host pbs.HostName) bool {
	return slices.Contains(j.Sisters, host) && !slices.Contains(j.Over, host)
}

// Live returns the sisters of the present run that have not confirmed the end of their part.
func (j *Job) Live() []pbs.HostName {
	if len(j.Over) == 0 {
		return j.Sisters
	}
	over := make(map[pbs.HostName]bool, len(j.Over))
	for _, h := range j.Over {
		over[h] = true
	}
	return slices.DeleteFunc(slices.Clone(j.Sisters), func(h pbs.HostName) bool { return over[h] })
}

// Hosts returns the hosts of the present run, the mother superior first; none if it does not run.
func (j *Job) Hosts() []pbs.HostName {
	if j.MS == "" {
		return nil
	}
	return append([]pbs.HostName{j.MS}, j.Sisters...)
}

// checkSisters verifies that only a live run has sisters, each once and none of them its
// mother superior.
func (t *tables) checkSisters(j *Job) error {
	if len(j.Sisters)+len(j.Over) > 0 && j.MS == "" {
		return fmt.Errorf("job %s in state %s has the sisters %v", j.ID, j.State, j.Sisters)
	}
	seen := map[pbs.HostName]bool{}
	for _, h := range j.Hosts() {
		if seen[h] {
			return fmt.Errorf("job %s has %s twice among its hosts", j.ID, h)
		}
		seen[h] = true
	}
	for _, h := range j.Over {
		if !seen[h] || h == j.MS {
			return fmt.Errorf("job %s has %s as a sister that has ended, which is none", j.ID, h)
		}
	}
	return nil
}
