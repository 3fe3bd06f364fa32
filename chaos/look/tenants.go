package look

import (
	"slices"
	"sync"
	"time"

	"rampart/chaos/check"
	"rampart/fsm/state"
)

// Tenants writes down which hosts running jobs have given back. It is safe for any number of
// goroutines.
type Tenants struct {
	mu   sync.Mutex
	held map[tenant]bool // at the index last
	last uint64
	gone []check.Vacated
}

// tenant is a run on one of its hosts.
type tenant struct {
	job  string
	run  uint32
	host string
}

// Note compares a view with the latest one, at a time at which it is known. Whoever replays the past
// comes later than the first who saw it.
func (t *Tenants) Note(v *state.View, at time.Duration) {
	held := make(map[tenant]bool)
	running := make(map[string]uint32)
	for j := range v.Jobs() {
		if !j.Live() {
			continue
		}
		running[string(j.ID)] = uint32(j.RunCount)
		for _, c := range j.LastRun().AllVnodes() {
			for _, p := range c.Parts {
				if vnode, ok := v.Vnode(p.Vnode); ok {
					held[tenant{string(j.ID), uint32(j.RunCount), string(vnode.Host)}] = true
				}
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if v.Index() <= t.last {
		return
	}
	for p := range t.held {
		if run, still := running[p.job]; !held[p] && still && run == p.run {
			t.gone = append(t.gone, check.Vacated{Job: p.job, Count: p.run, Host: p.host, At: at})
		}
	}
	t.held, t.last = held, v.Index()
}

// Vacated returns what was written down.
func (t *Tenants) Vacated() []check.Vacated {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.gone)
}
