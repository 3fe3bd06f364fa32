package task

import (
	"fmt"
	"slices"

	"rampart/fsm/pbs"
)

// A Misfit is a value that cannot be accumulated.
type Misfit struct {
	Resource, Value string
	Host            pbs.HostName
	Why             string
}

// Misfits returns the values for which resources are left out of Used.
func (r Reckoning) Misfits() []Misfit {
	_, misfits := r.accumulate()
	return misfits
}

// hookedOtherwise reports whether hooks on some host have set other values.
func hookedOtherwise(before, after Task) bool {
	if !slices.Equal(before.HookUsed, after.HookUsed) {
		return true
	}
	for host, s := range after.Shares {
		if !slices.Equal(s.Hooked, before.Shares[host].Hooked) {
			return true
		}
	}
	return false
}

// complain tells in the log, once, which values are left out.
func (r *Runner) complain(t Task) {
	if t.Sister() {
		return
	}
	for _, m := range t.Reckoning().Misfits() {
		if r.misfits[m] {
			continue
		}
		if r.misfits == nil {
			r.misfits = make(map[Misfit]bool)
		}
		r.misfits[m] = true
		r.site.Lines.Job(pbs.LogError, t.Key.Job, fmt.Sprintf(
			"Job %s resources_used.%s cannot be accumulated: value '%s' from mom %s not JSON-format: %s",
			t.Key.Job, m.Resource, m.Value, pbs.ShortHost(m.Host), m.Why))
	}
}
