package world

import (
	"fmt"
	"slices"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Leader returns the name of the replica that leads; empty: none does.
func (w *World) Leader() string {
	w.reap()
	if r := w.leader(); r != nil {
		return r.name
	}
	return ""
}

// Replicas returns the names of the replicas.
func (w *World) Replicas() []string {
	var names []string
	for _, r := range w.servers {
		names = append(names, r.name)
	}
	return names
}

// View returns the state as the leader has it; nil: there is no leader.
func (w *World) View() *state.View {
	w.reap()
	if r := w.leader(); r != nil {
		return r.machine.View()
	}
	return nil
}

// Home returns the home of a replica or of an execution host.
func (w *World) Home(name string) string { return w.home(name) }

// reap notes what has ended by itself, as a replica does that is told to.
func (w *World) reap() {
	w.traps.struck()
	for _, r := range w.servers {
		if ended(r.done) {
			r.done = nil
		}
	}
	for _, m := range w.moms {
		if ended(m.done) {
			m.done = nil
		}
	}
}

// ended reports whether a process has ended; a nil channel means that this was seen before.
func ended(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// find returns the replica or the mom of a name.
func (w *World) find(name string) (*replica, *mom, error) {
	if r := w.named(name); r != nil {
		return r, nil, nil
	}
	for _, m := range w.moms {
		if m.name == name {
			return nil, m, nil
		}
	}
	return nil, nil, fmt.Errorf("there is no replica and no host %q", name)
}

// Faults are what befalls replicas and execution hosts of a world by their names.
type Faults struct{ *World }

// Faults returns the faults of a world by name.
func (w *World) Faults() Faults { return Faults{w} }

// Kill ends the process of a replica or of a mom as kill -9 does: a mom's programs go on.
func (f Faults) Kill(name string) error {
	f.reap()
	r, m, err := f.find(name)
	switch {
	case err != nil:
		return err
	case r != nil && r.done == nil, m != nil && m.done == nil:
		return fmt.Errorf("nothing runs on %s", name)
	case r != nil:
		r.kill()
	default:
		f.book.hurt(pbs.HostName(m.name))
		m.kill()
	}
	return nil
}

// Unplug takes the power from a host: everything on it ends.
func (f Faults) Unplug(name string) error {
	f.reap()
	r, m, err := f.find(name)
	if err != nil {
		return err
	}
	if r != nil {
		r.kill()
		return nil
	}
	f.book.hurt(pbs.HostName(m.name))
	m.kill()
	m.system.Reboot()
	return nil
}

// Launch starts the process of a replica or of a mom, if it does not run.
func (f Faults) Launch(name string) error {
	f.reap()
	r, m, err := f.find(name)
	switch {
	case err != nil:
		return err
	case r != nil && r.done == nil:
		r.start(f.life)
	case m != nil && m.done == nil:
		m.start(f.life)
	}
	return nil
}

// LaunchAll starts everything that does not run; not ok if there was nothing.
func (f Faults) LaunchAll() bool {
	f.reap()
	return f.Restart()
}

// Split lets nothing pass between some replicas and hosts, and all others.
func (f Faults) Split(names ...string) error {
	for _, name := range names {
		if _, m, err := f.find(name); err != nil {
			return err
		} else if m != nil {
			f.book.hurt(pbs.HostName(m.name))
			m.away = true
		}
	}
	for _, name := range names {
		for _, other := range f.names() {
			if !slices.Contains(names, other) {
				f.net.Cut(name, other)
			}
		}
	}
	return nil
}

// Sever breaks all connections of a host that asks, which notices that at once.
func (f Faults) Sever(name string) error {
	if !slices.Contains(f.config.Submit, name) {
		return fmt.Errorf("%q is no host where commands run", name)
	}
	f.net.Host(name).Crash()
	return nil
}

// Slow makes everything that passes between a replica or host and all others take so long each way.
func (f Faults) Slow(name string, delay time.Duration) error {
	if _, _, err := f.find(name); err != nil && !slices.Contains(f.config.Submit, name) {
		return err
	}
	for _, other := range f.names() {
		if other != name {
			f.net.Delay(name, other, delay)
		}
	}
	return nil
}

// Mend takes every fault off the links of a replica or host.
func (f Faults) Mend(name string) error {
	_, m, err := f.find(name)
	if err != nil {
		return err
	}
	if m != nil {
		m.away = false
	}
	f.mend(func(a, b string) bool { return a == name || b == name })
	return nil
}

// MendAll takes every fault off every link.
func (f Faults) MendAll() { f.connect() }

// Runs reports whether the process of a replica or of a mom runs.
func (f Faults) Runs(name string) bool {
	f.reap()
	r, m, err := f.find(name)
	return err == nil && (r != nil && r.done != nil || m != nil && m.done != nil)
}
