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
func (w *World) replicaNamed(name string) (*replica, error) {
	if r := w.named(name); r != nil {
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
func (w *World) StepClock(name string, by time.Duration) error {
	r, err := w.replicaNamed(name)
	if err == nil {
		r.clockOff.Store(int64(by))
	}
	return err
}

// SetClocks puts the clocks of all hosts right.
func (w *World) SetClocks() { w.setClocks() }

// Stall makes the disk of a replica answer no writes, or none of a kind.
func (w *World) Stall(name, kind string) error {
	r, err := w.replicaNamed(name)
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
func (w *World) Drag(name string, delay time.Duration, kind string) error {
	r, err := w.replicaNamed(name)
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
func (w *World) Flow() { w.flow() }

// Lie has somebody with the key of gossip tell all members again and again that a host is dead, or that it lives, until
// every link is mended; one lie is told at a time.
func (w *World) Lie(name string, alive bool) error {
	m, err := w.momNamed(name)
	if err == nil {
		w.lie(m, alive)
	}
	return err
}

// Rebuild restarts a replica as another build: the present one, or one that knows a feature level less. Leadership is handed over.
func (w *World) Rebuild(name string, older bool) error {
	w.reap()
	r, err := w.replicaNamed(name)
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
func (w *World) Wreck(name string) error {
	w.reap()
	r, err := w.replicaNamed(name)
	if err == nil && len(w.servers) < 2 {
		err = fmt.Errorf("%s is the only replica: nothing would be left", name)
	}
	if err == nil {
		w.wreck(r)
	}
	return err
}

// Cut lets nothing pass between a replica or host and some others.
func (w *World) Cut(name string, others ...string) error {
	for i, one := range append([]string{name}, others...) {
		_, m, err := w.find(one)
		switch {
		case err != nil:
			return err
		case i > 0 && one == name:
			return fmt.Errorf("%s cannot be cut off from itself", name)
		case m != nil:
			w.book.hurt(pbs.HostName(m.name))
			m.away = true
		}
	}
	for _, other := range others {
		w.net.Cut(name, other)
	}
	return nil
}

// Mute loses what a replica or host says to the replicas, or, if it is to be deaf, what they say to it.
func (w *World) Mute(name string, deaf bool) error {
	_, m, err := w.find(name)
	if err != nil {
		return err
	}
	if m != nil {
		w.book.hurt(pbs.HostName(m.name))
		m.away = true
	}
	for _, o := range w.servers {
		switch {
		case o.name == name:
		case deaf:
			w.net.CutOneWay(o.name, name)
		default:
			w.net.CutOneWay(name, o.name)
		}
	}
	return nil
}

// LoseReplies loses what a replica says to those who ask.
func (w *World) LoseReplies(name string) error {
	r, err := w.replicaNamed(name)
	if err != nil {
		return err
	}
	for _, o := range append(w.clientNames(), w.config.Submit...) {
		w.net.CutOneWay(r.name, o)
	}
	return nil
}

// Freeze stops a mom where it is, as SIGSTOP does; programs go on.
func (w *World) Freeze(name string) error {
	m, err := w.momNamed(name)
	if err != nil {
		return err
	}
	if m.done == nil {
		return fmt.Errorf("nothing runs on %s", name)
	}
	w.book.hurt(pbs.HostName(m.name))
	m.away = true
	m.stop()
	w.exile(m.name)
	return nil
}

// Thaw lets a mom go on that was stopped.
func (w *World) Thaw(name string) error {
	m, err := w.momNamed(name)
	if err != nil {
		return err
	}
	if !m.system.thaw() {
		return fmt.Errorf("the mom of %s is not stopped", name)
	}
	return w.Mend(name)
}

// Tear kills a replica, with which the last bytes of its accounting file are lost.
func (w *World) Tear(name string, bytes int64) error {
	r, err := w.replicaNamed(name)
	if err == nil {
		err = w.Kill(name)
	}
	if err == nil {
		err = r.tear(bytes)
	}
	return err
}

// Sicken makes a host fall ill, with one of fault.Illnesses.
func (w *World) Sicken(name, illness string) error {
	m, err := w.momNamed(name)
	if err != nil {
		return err
	}
	if !slices.Contains(fault.Illnesses, illness) {
		return fmt.Errorf("%q is no illness: want one of %s", illness, strings.Join(fault.Illnesses, ", "))
	}
	m.system.mu.Lock()
	m.system.illness = illness
	m.system.mu.Unlock()
	w.book.hurt(pbs.HostName(m.name))
	return nil
}

// Cure makes all hosts well.
func (w *World) Cure() { w.cure() }

// Ambush has the leader die when it has applied a command of a kind, before anybody hears of it. There is one ambush at most,
// which waits until it is the time.
func (w *World) Ambush(kind string) error {
	if !slices.Contains(command.Names(), kind) {
		return fmt.Errorf("%q is no command of the log", kind)
	}
	w.reap()
	if w.Awaited() != "" {
		return fmt.Errorf("an ambush waits for %s", w.Awaited())
	}
	w.laid = w.lay(fault.Step{Kind: fault.Ambush, Value: kind})
	return nil
}

// struck notes whom an ambush has killed.
func (w *World) struck() {
	if w.laid == nil {
		return
	}
	select {
	case hit := <-w.laid.struck:
		w.bury(hit, w.laid.command)
		w.laid = nil
	default:
	}
}

// Awaited is the kind of command for which an ambush waits; empty: none does.
func (w *World) Awaited() string {
	if t := w.trap.Load(); t != nil {
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
