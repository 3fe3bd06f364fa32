package dispatch

import (
	"context"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// hookPatience bounds how long orders wait until the moms of the jobs that they start know of the hooks.
const hookPatience = 2 * time.Second

// awaitHooks keeps starts from overtaking what was changed of hooks and resources before them: a job runs under the hooks that
// its server has, at its sisters, too. A mom that cannot be told does not hold its orders up for ever, and once for each
// generation of hooks.
func (w *worker) awaitHooks(ctx context.Context, v *state.View, req *api.DeliverRequest) {
	generation := v.Cluster().HookGeneration
	if generation <= w.hooks {
		return
	}
	hosts := startsOn(w.host, req)
	if len(hosts) == 0 {
		return
	}
	timer := time.NewTimer(hookPatience)
	defer timer.Stop()
	for {
		changed := w.opts.Source.Changed()
		if knowHooks(w.opts.Source.View(), hosts, generation) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			w.hooks = generation
			return
		case <-changed:
		}
	}
}

// startsOn returns the hosts of the jobs that orders of a mom start.
func startsOn(mother pbs.HostName, req *api.DeliverRequest) []pbs.HostName {
	var all []pbs.HostName
	for _, o := range req.GetOrders() {
		if o.GetRun() == nil {
			continue
		}
		if len(all) == 0 {
			all = append(all, mother)
		}
		for _, h := range o.GetRun().GetHosts() {
			all = append(all, pbs.HostName(h.GetName()))
		}
	}
	return all
}

// knowHooks reports whether the moms of hosts that are up have confirmed a generation of hooks.
func knowHooks(v *state.View, hosts []pbs.HostName, generation uint64) bool {
	for _, name := range hosts {
		if h, ok := v.Host(name); ok && h.Up && h.Address != "" && h.Hooks < generation {
			return false
		}
	}
	return true
}
