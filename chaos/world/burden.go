package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/fault"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

const (
	// loadStarts and loadStops are the thresholds of r1m of a world whose hosts are busy at times.
	loadStarts, loadStops = 1.0, 2.0
	// loadGap is how far two suspensions by load on a host are apart at least.
	loadGap = pbs.Time(15 * time.Second)
	// loadLasts is for how long after it has gone a load may suspend a job: as long as a report of it counts, a cycle goes by it, and its entry waits for a leader.
	loadLasts = 30 * time.Second
)

// A burden is the load of a host from a time of the run on.
type burden struct {
	from time.Duration
	r1m  float64
}

// makeBusy sets thresholds of load for all queues, and has all hosts tell that they have nothing to do but for somebody at their keyboard.
func (n starting) makeBusy(ctx context.Context) error {
	for _, m := range n.moms {
		m.load.set(map[string]float64{"it": 0, "r1m": 0}, nil)
	}
	for _, queue := range []string{"workq", SecondQueue} {
		_, err := n.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
			Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: queue,
			Changes: []*api.Attribute{{Name: "lsf_thresholds", Value: fmt.Sprintf("r1m=%g/%g", loadStarts, loadStops)}},
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// burden gives the host of a mom a load.
func (k striker) burden(s fault.Step) (string, bool) {
	m := k.mom(s.Target)
	r1m, err := strconv.ParseFloat(s.Value, 64)
	if err != nil {
		return s.String(), false
	}
	k.setLoad(m, r1m)
	return s.String() + ": " + m.name, true
}

// relieve takes the load of all hosts away; not ok if none had any.
func (w *World) relieve() bool {
	any := false
	for _, m := range w.moms {
		if w.book.loadOf(pbs.HostName(m.name)) > 0 {
			any = true
			w.setLoad(m, 0)
		}
	}
	return any
}

func (w *World) setLoad(m *mom, r1m float64) {
	w.book.note(func(k *book) {
		host := pbs.HostName(m.name)
		k.burdens[host] = append(k.burdens[host], burden{k.since(), r1m})
	})
	m.load.set(map[string]float64{"r1m": r1m}, nil)
}

// loadOf returns the load of a host now.
func (k *book) loadOf(host pbs.HostName) float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if all := k.burdens[host]; len(all) > 0 {
		return all[len(all)-1].r1m
	}
	return 0
}

// stops notes that an entry has suspended a job by load: its host had that load, and none of its hosts another such job so lately. The
// entry may be an old one that is applied again.
func (k *book) stops(index uint64, v *state.View, c *command.StopForLoad) {
	j, ok := v.Job(c.Job)
	if !ok || j.LastRun().StoppedByLoad() == nil {
		return
	}
	at := j.LastRun().ChangedByLoad()
	k.mu.Lock()
	defer k.mu.Unlock()
	wrong := func(format string, args ...any) {
		k.overloaded.Wrong = append(k.overloaded.Wrong, fmt.Sprintf("at index %d ", index)+fmt.Sprintf(format, args...))
	}
	stopped := k.overloaded.Stopped[string(c.Job)]
	if stopped == nil {
		stopped = map[uint64]bool{}
		k.overloaded.Stopped[string(c.Job)] = stopped
	}
	stopped[index] = true
	if when := time.Duration(at) - time.Duration(k.begun.UnixNano()); !k.wasBusy(c.Host, when) {
		wrong("%s was suspended by the load of %s at %s, which had %+v", c.Job, c.Host, when, k.burdens[c.Host])
	}
	for vn := range v.Vnodes() {
		if !slices.Contains(j.Hosts(), vn.Host) {
			continue
		}
		for _, held := range vn.Jobs {
			other, ok := v.Job(held.Job)
			if ok && other.ID != j.ID && held.Of(other) && other.LastRun().StoppedByLoad() != nil && max(at, other.LastRun().ChangedByLoad())-min(at, other.LastRun().ChangedByLoad()) < loadGap {
				wrong("%s and %s were both suspended by load on %s, at %d and %d", j.ID, other.ID, vn.Host, at, other.LastRun().ChangedByLoad())
			}
		}
	}
}

// wasBusy reports whether the load of a host was beyond loadStop not long before. The lock is held.
func (k *book) wasBusy(host pbs.HostName, when time.Duration) bool {
	all := k.burdens[host]
	for i, b := range all {
		until := when + 1
		if i+1 < len(all) {
			until = all[i+1].from + loadLasts
		}
		if b.r1m > loadStops && b.from <= when && cmp.Less(when, until) {
			return true
		}
	}
	return false
}
