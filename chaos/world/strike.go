package world

import (
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/fault"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// mostTorn is how much of a ledger's end a Tear takes at most.
const mostTorn = 400

// Strike makes a fault happen, and tells to whom; not ok if there is nobody that it
// could hit.
func (w *World) Strike(s fault.Step) (text string, ok bool) { return striker{w}.strike(s) }

// A striker makes the steps of a plan of faults happen.
type striker struct{ *World }

func (k striker) strike(s fault.Step) (text string, ok bool) {
	switch s.Kind {
	case fault.Heal:
		k.heal(s.Target)
		return s.String(), true
	case fault.Restart:
		return s.String(), k.restart(s.Target)
	case fault.Thaw:
		return s.String(), k.thaw(s.Target)
	case fault.Sever:
		for _, c := range k.clientNames() {
			k.net.Host(c).Crash()
		}
		return s.String(), true
	case fault.SetFence:
		return s.String(), k.setFence(s.Value)
	case fault.Ambush:
		return k.ambush(s)
	case fault.Recover:
		return k.disaster.recover(k.life)
	case fault.Stall:
		return k.stall(s)
	case fault.Flow:
		return s.String(), k.flow()
	case fault.Sicken:
		return k.sicken(s)
	case fault.Cure:
		return s.String(), k.cure()
	case fault.SetClocks:
		return s.String(), k.setClocks()
	case fault.Burden:
		return k.burden(s)
	case fault.Relieve:
		return s.String(), k.relieve()
	}
	if s.OfJob() {
		return k.ambush(s)
	}
	if s.Target.Role == fault.Mom {
		return k.strikeMom(s)
	}
	r := k.target(s.Target)
	if s.Kind == fault.Upgrade || s.Kind == fault.Downgrade {
		r = k.build(s)
	}
	if r == nil {
		return s.String(), false
	}
	if s.Kind == fault.StepClock {
		by, err := time.ParseDuration(s.Value)
		r.clockOff.Store(int64(by))
		return s.String() + ": " + r.name, err == nil
	}
	k.strikeReplica(r, s.Kind)
	return s.String() + ": " + r.name, true
}

// target returns the replica that a fault hits, among those that run.
func (k striker) target(t fault.Target) *replica {
	lead := k.leader()
	if t.Role == fault.Leader {
		return lead
	}
	var others []*replica
	for _, r := range k.servers {
		if r != lead && r.done != nil {
			others = append(others, r)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return others[t.N%len(others)]
}

// build returns the replica that runs and gets another build than it has: the leader or
// another one, as the step says.
func (k striker) build(s fault.Step) *replica {
	lead := k.leader()
	for _, r := range k.servers {
		if r.done != nil && r.older == (s.Kind == fault.Upgrade) && (r == lead) == (s.Target.Role == fault.Leader) {
			return r
		}
	}
	return nil
}

func (k striker) strikeReplica(r *replica, kind fault.Kind) {
	switch kind {
	case fault.Crash:
		r.kill()
	case fault.Wreck:
		k.disaster.wreck(r)
	case fault.Tear:
		r.kill()
		if err := r.tear(k.rand.Int64N(mostTorn)); err != nil {
			k.book.failed(r.name, err)
		}
	case fault.Exile:
		k.exile(r.name)
	case fault.Upgrade, fault.Downgrade:
		r.change(kind == fault.Downgrade)
	case fault.LoseReplies:
		for _, c := range k.clientNames() {
			k.net.CutOneWay(r.name, c)
		}
	default:
		for _, o := range k.servers {
			if o == r {
				continue
			}
			if kind != fault.Deafen {
				k.net.CutOneWay(r.name, o.name)
			}
			if kind != fault.Mute {
				k.net.CutOneWay(o.name, r.name)
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

func (k striker) strikeMom(s fault.Step) (string, bool) {
	m := k.mom(s.Target)
	if s.Kind == fault.Vouch || s.Kind == fault.Slander {
		k.lies.begin(m, s.Kind == fault.Vouch)
		return s.String() + ": " + m.name, true
	}
	if m.done == nil {
		return s.String(), false
	}
	k.book.hurt(pbs.HostName(m.name))
	switch s.Kind {
	case fault.Exile:
		m.away = true
		k.exile(m.name)
	case fault.Divide:
		k.net.Cut(m.name, k.moms[0].name)
		return s.String() + ": " + m.name + " and " + k.moms[0].name, m != k.moms[0]
	case fault.Estrange:
		lead := k.leader()
		if lead == nil {
			return s.String(), false
		}
		m.away = true
		k.net.Cut(m.name, lead.name)
		return s.String() + ": " + m.name + " and " + lead.name, true
	case fault.Freeze:
		m.away = true
		m.freeze()
	case fault.Reboot:
		m.kill()
		m.system.Reboot()
	default:
		m.kill()
	}
	return s.String() + ": " + m.name, true
}

func (w *World) mom(t fault.Target) *mom { return w.moms[t.N%len(w.moms)] }

// heal mends all links, or those of one mom, or all but those of the moms that are away.
func (w *World) heal(t fault.Target) {
	switch t.Role {
	case fault.Mom:
		m := w.mom(t)
		m.away = false
		w.mend(func(a, b string) bool { return a == m.name || b == m.name })
	case fault.Replicas:
		away := make(map[string]bool)
		for _, m := range w.moms {
			away[m.name] = m.away
		}
		w.mend(func(a, b string) bool { return !away[a] && !away[b] })
	default:
		w.connect()
	}
}

// Restart starts everything that is down; not ok if nothing was.
func (w *World) Restart() bool { return w.restart(fault.Target{Role: fault.Crashed}) }

// restart starts what is down of the target.
func (w *World) restart(t fault.Target) bool {
	any := false
	for _, r := range w.servers {
		if r.done == nil && t.Role != fault.Mom {
			r.start(w.life)
			any = true
		}
	}
	for _, m := range w.moms {
		if m.done == nil && (t.Role != fault.Mom || m == w.mom(t)) && t.Role != fault.Replicas {
			m.start(w.life)
			any = true
		}
	}
	return any
}

// setClocks puts the clocks of all hosts right; not ok if they were.
func (w *World) setClocks() bool {
	any := false
	for _, r := range w.servers {
		any = r.clockOff.Swap(0) != 0 || any
	}
	return any
}

// thaw lets a frozen mom go on, or all of them; not ok if none was.
func (w *World) thaw(t fault.Target) bool {
	any := false
	for _, m := range w.moms {
		if (t.Role != fault.Mom || m == w.mom(t)) && m.system.thaw() {
			w.heal(fault.Target{Role: fault.Mom, N: slices.Index(w.moms, m)})
			any = true
		}
	}
	return any
}

// setFence sets node_fail_requeue, to seconds or to nothing.
func (k striker) setFence(seconds string) bool {
	verb := api.Verb_VERB_SET
	if seconds == "" {
		verb = api.Verb_VERB_UNSET
	}
	_, err := k.manager.Manage(k.life, connect.NewRequest(&api.ManageRequest{
		Verb: verb, Kind: api.ObjectKind_OBJECT_KIND_SERVER,
		Changes: []*api.Attribute{{Name: fenceAttribute, Value: seconds}},
	}))
	return err == nil
}
