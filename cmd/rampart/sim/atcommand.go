package sim

import (
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/command"
)

// Said of a command.
const (
	proposed   = "proposed" // only the leader has it in its log
	reportedBy = "of"       // it is a report of the host that stands behind
)

// A waiter is an at-command whose command has not come.
type waiter struct {
	st   step
	kind string
}

// A striking is when something befalls somebody: at a command.
type striking[W any] struct {
	of    []W  // the host that reports it; none: whoever
	early bool // it is proposed only
	rest  []W  // what then befalls whom
}

// atCommand takes the words of at-command apart.
func atCommand[W any](words []W, plain func(W) (string, bool)) (m striking[W]) {
	m.rest = words[1:]
	said := func(what string, n int) bool {
		if len(m.rest) < n {
			return false
		}
		text, ok := plain(m.rest[0])
		return ok && text == what
	}
	if said(reportedBy, 2) {
		m.of, m.rest = m.rest[1:2], m.rest[2:]
	}
	if said(proposed, 1) {
		m.early, m.rest = true, m.rest[1:]
	}
	return m
}

func itself(text string) (string, bool) { return text, true }

// checkAtCommand checks at-command KIND [of HOST] [proposed] WORD...
func checkAtCommand(st step) error {
	if err := checkKind(st); err != nil {
		return err
	}
	rest := atCommand(st.words, word.plain).rest
	if len(rest) == 0 {
		return fmt.Errorf("usage: %s", verbs[st.verb].usage)
	}
	return checkBefalls(st, rest, "happen at a command")
}

// atCommand has something befall somebody when the leader has a command of the log, and nobody else has heard of it.
func (r *run) atCommand(st step, words []string) error {
	m := atCommand(words, itself)
	rest, of := m.rest, strings.Join(m.of, "")
	met, err := r.world.Meet(words[0], of, m.early)
	if err != nil {
		return err
	}
	w := &waiter{st, words[0]}
	r.met.Lock()
	r.waiters = append(r.waiters, w)
	r.met.Unlock()
	r.putOff.Go(func() {
		select {
		case <-r.over:
		case m := <-met:
			defer m.Done()
			r.met.Lock()
			r.waiters = slices.DeleteFunc(r.waiters, func(o *waiter) bool { return o == w })
			r.met.Unlock()
			for i, name := range rest[1:] {
				if n := slices.Index([]string{"superior", "sister"}, name); n >= len(m.Hosts) {
					r.fail(fmt.Errorf("%s is about no job with a %s", words[0], name))
					return
				} else if n >= 0 {
					rest[1+i] = m.Hosts[n]
				}
			}
			if err := verbs[rest[0]].do(r, st, rest[1:]); err != nil {
				r.fail(err)
			}
		}
	})
	return nil
}

// fail keeps the first thing that could not befall somebody.
func (r *run) fail(err error) { r.late.CompareAndSwap(nil, &err) }

// unmet is the failure of a scenario that ends before a command has come for which at-command waits.
func (r *run) unmet() error {
	r.met.Lock()
	defer r.met.Unlock()
	if len(r.waiters) == 0 {
		return nil
	}
	w := r.waiters[0]
	return r.explain(w.st, &failure{w.kind + " before the end of the scenario", "none"})
}

func checkKind(st step) error {
	if text, ok := st.words[0].plain(); ok && !slices.Contains(command.Names(), text) {
		return fmt.Errorf("%q is no command of the log; they are %s", text, strings.Join(command.Names(), " "))
	}
	return nil
}
