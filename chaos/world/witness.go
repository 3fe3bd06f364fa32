package world

import (
	"context"
	"sync/atomic"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// witness sees what one start of a replica applies.
type witness struct {
	r      *replica
	cancel context.CancelCauseFunc // of that start
}

// Applied implements server.Witness.
func (w *witness) Applied(index uint64, e command.Entry, outcomes []command.Outcome) {
	w.r.w.book.vacated(w.r.machine.View())
	steps := w.r.w.book.booked(w.r.machine.View(), e, outcomes)
	if w.r.w.config.Size.Plans {
		w.r.w.book.plans(w.r.machine.View(), e, outcomes)
	}
	for i, p := range e.Proposals {
		if outcomes[i].Refusal != nil {
			continue
		}
		for _, c := range p.Commands {
			switch c := c.(type) {
			case *command.HostFenced:
				w.r.w.book.fell(index, c.Host, outcomes[i].Result)
			case *command.ForgetHost:
				w.r.w.book.fell(index, c.Host, outcomes[i].Result)
			case *command.HostDown:
				w.r.w.lies.wentDown(index, string(c.Host))
			case *command.KeepPending:
				w.r.w.book.keeps(index, w.r.machine.View())
			case *command.StopForLoad:
				w.r.w.book.stops(index, w.r.machine.View(), c)
			}
			w.spring(index, command.NameOf(c), c)
			if detail := w.detail(c); detail != "" {
				w.spring(index, detail, c)
			}
			if step, _ := w.r.w.book.lifeOf(w.r.machine.View(), c); step != "" {
				w.spring(index, step, c)
			}
			steps = append(steps, insideStep(w.r.machine.View(), c))
		}
	}
	for _, step := range steps {
		w.spring(index, step, nil)
	}
}

// Restored implements server.Witness.
func (w *witness) Restored(*state.View) {
	w.r.w.book.note(func(b *book) { b.restored++ })
}

// fell notes that a host was given up, by its fence or by an operator.
func (k *book) fell(index uint64, host pbs.HostName, r state.Result) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fences[index] = check.Fence{Index: index, Host: string(host), Requeued: int(r.Requeued), Ended: int(r.Finished)}
}

// A trap waits for a leader that applies a command of a kind.
type trap struct {
	kind    fault.Kind
	command string
	after   uint64 // index: what was applied before is only replayed
	ofJob   bool   // a host of a job is hit
	host    int    // which
	struck  chan sprung
}

// sprung says where a trap has struck.
type sprung struct {
	r     *replica
	index uint64
	m     *mom // that was hit as a host of a job; nil: the leader was
	hit   check.Hit
}

// traps are what a world has of them: one at most is laid.
type traps struct {
	w       *World
	current atomic.Pointer[trap]
	early   *trap // that was laid before the start; nil: none was
	laid    *trap // of Ambush; nil: none waits, or who was killed by it is buried
}

// lay lays a trap; there is one at most.
func (p *traps) lay(s fault.Step) *trap {
	t := &trap{kind: s.Kind, command: s.Value, host: s.Target.N, ofJob: s.OfJob(), struck: make(chan sprung, 1)}
	for _, r := range p.w.servers {
		if r.machine != nil {
			t.after = max(t.after, r.machine.View().Index())
		}
	}
	p.current.Store(t)
	return t
}

// spring kills a leader that has just applied what the trap waits for. The leader applies
// first, and what it says in the same moment is lost: nobody has heard of the commit.
func (w *witness) spring(index uint64, kind string, c command.Command) {
	t := w.r.w.traps.current.Load()
	if t == nil || t.command != kind || index <= t.after {
		return
	}
	leader := w.r.machine.View().Cluster().Leader
	if t.ofJob {
		if m, hit := w.hostOf(c, t.host); m != nil && string(leader) == w.r.name && w.r.w.traps.current.CompareAndSwap(t, nil) {
			w.hit(m, hit, t.kind)
			hit.At, hit.When = kind, w.r.w.since()
			t.struck <- sprung{r: w.r, index: index, m: m, hit: hit}
		}
		return
	}
	if leader != "" && string(leader) != w.r.name || !w.r.w.traps.current.CompareAndSwap(t, nil) {
		return
	}
	w.cancel(cluster.ErrKilled)
	w.r.host.Crash()
	t.struck <- sprung{r: w.r, index: index}
}

// hit strikes a host of a job at once: nobody has heard of the command yet.
func (w *witness) hit(m *mom, hit check.Hit, kind fault.Kind) {
	switch kind {
	case fault.Divide:
		w.r.w.net.Cut(m.name, hit.Mother)
	case fault.Lag:
		w.r.w.net.Delay(m.name, hit.Mother, lag)
	case fault.Estrange:
		w.r.w.net.Cut(m.name, w.r.name)
	case fault.Exile:
		w.r.w.exile(m.name)
	case fault.Freeze:
		m.stop()
		w.r.w.exile(m.name)
	default:
		m.host.Crash()
	}
}

// bury ends what is left of a process that a trap has struck.
func (p *traps) bury(s sprung, kind string) {
	s.r.kill()
	p.w.book.note(func(b *book) { b.killed = append(b.killed, kind) })
}

// topple ends the mom of a host that a trap has struck, and boots the host if that is the fault. One that
// is cut off or frozen lives.
func (k striker) topple(s sprung, step fault.Step) {
	switch step.Kind {
	case fault.Waylay:
		s.m.kill()
		s.m.system.Reboot()
	case fault.Topple:
		s.m.kill()
	default:
		s.m.away = step.Kind != fault.Divide && step.Kind != fault.Lag
	}
	k.book.note(func(b *book) { b.hits = append(b.hits, s.hit) })
}
