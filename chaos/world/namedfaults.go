package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rampart/chaos/fault"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// replicaNamed returns a replica.
func (f Faults) replicaNamed(name string) (*replica, error) {
	if r := f.named(name); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%q is no replica", name)
}

// momNamed returns an execution host.
func (w *World) momNamed(name string) (*mom, error) {
	_, m, err := w.find(name)
	if err == nil && m == nil {
		err = fmt.Errorf("%q is no execution host", name)
	}
	return m, err
}

// StepClock puts the clock of a replica's host so far ahead of the true time, or behind it.
func (f Faults) StepClock(name string, by time.Duration) error {
	r, err := f.replicaNamed(name)
	if err == nil {
		r.clockOff.Store(int64(by))
	}
	return err
}

// SetClocks puts the clocks of all hosts right.
func (f Faults) SetClocks() { f.setClocks() }

// Stall makes the disk of a replica answer no writes, or none of a kind.
func (f Faults) Stall(name, kind string) error {
	r, err := f.replicaNamed(name)
	if err != nil {
		return err
	}
	if kind == "" {
		r.disk.valve.Shut()
		return nil
	}
	if !slices.Contains(stores, kind) {
		return fmt.Errorf("%q is no kind of writes: want one of %s", kind, strings.Join(stores, ", "))
	}
	r.disk.valve.Shut(kind)
	return nil
}

// Drag makes the disk of a replica take so much longer for each write, or for each of a kind.
func (f Faults) Drag(name string, delay time.Duration, kind string) error {
	r, err := f.replicaNamed(name)
	if err != nil {
		return err
	}
	if kind == "" {
		r.disk.valve.Narrow(delay)
		return nil
	}
	if !slices.Contains(stores, kind) {
		return fmt.Errorf("%q is no kind of writes: want one of %s", kind, strings.Join(stores, ", "))
	}
	r.disk.valve.Narrow(delay, kind)
	return nil
}

// Flow makes every disk answer, at once.
func (f Faults) Flow() { f.flow() }

// Lie has somebody with the key of gossip tell all members again and again that a host is dead, or that it lives, until
// every link is mended; one lie is told at a time.
func (f Faults) Lie(name string, alive bool) error {
	m, err := f.momNamed(name)
	if err == nil {
		f.lies.begin(m, alive)
	}
	return err
}

// Rebuild restarts a replica as another build: the present one, or one that knows a feature level less. Leadership is handed over.
func (f Faults) Rebuild(name string, older bool) error {
	f.reap()
	r, err := f.replicaNamed(name)
	switch {
	case err != nil:
		return err
	case r.older == older:
		return fmt.Errorf("%s has that build already", name)
	case r.done == nil:
		r.older = older
		return nil
	}
	r.change(older)
	return nil
}

// Wreck kills a replica, of which log and accounting files are gone for good.
func (f Faults) Wreck(name string) error {
	f.reap()
	r, err := f.replicaNamed(name)
	if err == nil && len(f.servers) < 2 {
		err = fmt.Errorf("%s is the only replica: nothing would be left", name)
	}
	if err == nil {
		f.disaster.wreck(r)
	}
	return err
}

// Cut lets nothing pass between a replica or host and some others.
func (f Faults) Cut(name string, others ...string) error {
	for i, one := range append([]string{name}, others...) {
		_, m, err := f.find(one)
		switch {
		case err != nil:
			return err
		case i > 0 && one == name:
			return fmt.Errorf("%s cannot be cut off from itself", name)
		case m != nil:
			f.book.hurt(pbs.HostName(m.name))
			m.away = true
		}
	}
	for _, other := range others {
		f.net.Cut(name, other)
	}
	return nil
}

// Mute loses what a replica or host says to the replicas, or, if it is to be deaf, what they say to it.
func (f Faults) Mute(name string, deaf bool) error {
	_, m, err := f.find(name)
	if err != nil {
		return err
	}
	if m != nil {
		f.book.hurt(pbs.HostName(m.name))
		m.away = true
	}
	for _, o := range f.servers {
		switch {
		case o.name == name:
		case deaf:
			f.net.CutOneWay(o.name, name)
		default:
			f.net.CutOneWay(name, o.name)
		}
	}
	return nil
}

// LoseReplies loses what a replica says to those who ask.
func (f Faults) LoseReplies(name string) error {
	r, err := f.replicaNamed(name)
	if err != nil {
		return err
	}
	for _, o := range append(f.clientNames(), f.config.Submit...) {
		f.net.CutOneWay(r.name, o)
	}
	return nil
}

// Freeze stops a mom where it is, as SIGSTOP does; programs go on.
func (f Faults) Freeze(name string) error {
	m, err := f.momNamed(name)
	if err != nil {
		return err
	}
	if m.done == nil {
		return fmt.Errorf("nothing runs on %s", name)
	}
	f.book.hurt(pbs.HostName(m.name))
	m.away = true
	m.stop()
	f.exile(m.name)
	return nil
}

// Thaw lets a mom go on that was stopped.
func (f Faults) Thaw(name string) error {
	m, err := f.momNamed(name)
	if err != nil {
		return err
	}
	if !m.system.thaw() {
		return fmt.Errorf("the mom of %s is not stopped", name)
	}
	return f.Mend(name)
}

// Tear kills a replica, with which the last bytes of its accounting file are lost.
func (f Faults) Tear(name string, bytes int64) error {
	r, err := f.replicaNamed(name)
	if err == nil {
		err = f.Kill(name)
	}
	if err == nil {
		err = r.tear(bytes)
	}
	return err
}

// Sicken makes a host fall ill, with one of fault.Illnesses.
func (f Faults) Sicken(name, illness string) error {
	m, err := f.momNamed(name)
	if err != nil {
		return err
	}
	if !slices.Contains(fault.Illnesses, illness) {
		return fmt.Errorf("%q is no illness: want one of %s", illness, strings.Join(fault.Illnesses, ", "))
	}
	m.system.mu.Lock()
	m.system.illness = illness
	m.system.mu.Unlock()
	f.book.hurt(pbs.HostName(m.name))
	return nil
}

// Cure makes all hosts well.
func (f Faults) Cure() { f.cure() }

// Ambush has the leader die when it has applied a command of a kind, before anybody hears of it. There is one ambush at most,
// which waits until it is the time.
func (f Faults) Ambush(kind string) error {
	if !slices.Contains(command.Names(), kind) {
		return fmt.Errorf("%q is no command of the log", kind)
	}
	f.reap()
	if f.Awaited() != "" {
		return fmt.Errorf("an ambush waits for %s", f.Awaited())
	}
	f.traps.laid = f.traps.lay(fault.Step{Kind: fault.Ambush, Value: kind})
	return nil
}

// struck notes whom an ambush has killed.
func (p *traps) struck() {
	if p.laid == nil {
		return
	}
	select {
	case hit := <-p.laid.struck:
		p.bury(hit, p.laid.command)
		p.laid = nil
	default:
	}
}

// Awaited returns the kind of command for which an ambush waits; empty: none does.
func (f Faults) Awaited() string {
	if t := f.traps.current.Load(); t != nil {
		return t.command
	}
	return ""
}

// ambusher is the witness of a replica in a plain world: it sees nothing but what somebody waits for.
type ambusher struct {
	witness
	ctx    context.Context // of that start
	before *state.View     // the last entry
}

// Applied implements server.Witness.
func (a *ambusher) Applied(index uint64, e command.Entry, outcomes []command.Outcome) {
	before := cmp.Or(a.before, a.r.machine.View())
	for i, p := range e.Proposals {
		if outcomes[i].Refusal != nil {
			continue
		}
		for _, c := range p.Commands {
			if !isPart(before, c) {
				a.spring(index, command.NameOf(c), c)
			}
			a.r.meets(a.ctx, index, c, false, before)
		}
	}
	a.before = a.r.machine.View()
}
