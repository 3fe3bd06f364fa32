package world

import (
	"rampart/chaos/fault"
)

// mostTorn is how much of a ledger's end a Tear takes at most.
const mostTorn = 400

// Strike makes a fault happen, and tells to whom; not ok if there is nobody that it
// could hit.
func (w *World) Strike(s fault.Step) (text string, ok bool) {
	switch s.Kind {
	case fault.Heal:
		w.connect()
		return s.String(), true
	case fault.Restart:
		return s.String(), w.Restart()
	case fault.Sever:
		for _, c := range w.clientNames() {
			w.net.Host(c).Crash()
		}
		return s.String(), true
	}
	if s.Target.Role == fault.Mom {
		return w.strikeMom(s)
	}
	r := w.target(s.Target)
	if r == nil {
		return s.String(), false
	}
	w.strikeReplica(r, s.Kind)
	return s.String() + ": " + r.name, true
}

// target returns the replica that a fault hits, among those that run.
func (w *World) target(t fault.Target) *replica {
	lead := w.leader()
	if t.Role == fault.Leader {
		return lead
	}
	var others []*replica
	for _, r := range w.servers {
		if r != lead && r.done != nil {
			others = append(others, r)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return others[t.N%len(others)]
}

func (w *World) strikeReplica(r *replica, k fault.Kind) {
	switch k {
	case fault.Crash:
		r.kill()
	case fault.Tear:
		r.kill()
		if err := r.tear(w.rand.Int64N(mostTorn)); err != nil {
			w.failed(r.name, err)
		}
	case fault.Exile:
		w.exile(r.name)
	case fault.Hush:
		for _, c := range w.clientNames() {
			w.net.CutOneWay(r.name, c)
		}
	default:
		for _, o := range w.servers {
			if o == r {
				continue
			}
			if k != fault.Deafen {
				w.net.CutOneWay(r.name, o.name)
			}
			if k != fault.Mute {
				w.net.CutOneWay(o.name, r.name)
			}
		}
	}
}

func (w *World) exile(name string) {
	for _, o := range w.names() {
		if o != name {
			w.net.Cut(name, o)
		}
	}
}

func (w *World) strikeMom(s fault.Step) (string, bool) {
	m := w.moms[s.Target.N%len(w.moms)]
	if m.done == nil {
		return s.String(), false
	}
	switch s.Kind {
	case fault.Exile:
		w.exile(m.name)
	case fault.Reboot:
		m.kill()
		m.system.Reboot()
	default:
		m.kill()
	}
	return s.String() + ": " + m.name, true
}

// Restart starts everything that is down; not ok if nothing was.
func (w *World) Restart() bool {
	any := false
	for _, r := range w.servers {
		if r.done == nil {
			r.start(w.life)
			any = true
		}
	}
	for _, m := range w.moms {
		if m.done == nil {
			m.start(w.life)
			any = true
		}
	}
	return any
}
