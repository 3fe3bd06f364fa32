package command

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A writer applies commands to a state, each in an entry of its own.
type writer struct {
	*state.Store
	t     testing.TB
	index uint64
	at    pbs.Time // to which each entry adds one
}

// newWriter returns the writer of a new cluster with the server srv.
func newWriter(t testing.TB) *writer {
	w := &writer{Store: state.NewStore(), t: t}
	w.must(&InitCluster{ID: "c", Name: "srv"})
	return w
}

// tells returns what the server's log tells of jobs by a command that takes effect: "ID TEXT".
func (w *writer) tells(c Command) (told []string) {
	w.t.Helper()
	w.index++
	out, events := Run(w.Store, w.index, 1, Entry{Time: w.at + pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{c}}}})
	w.Publish()
	if err := out[0].Err(); err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	for _, e := range events {
		if e.Kind == state.JobNoted || e.Kind == state.JobAborted {
			told = append(told, string(e.Job.ID)+" "+e.Text)
		}
	}
	return told
}

// run returns why the command was refused, if it was.
func (w *writer) run(c Command) error {
	w.index++
	out, _ := Run(w.Store, w.index, 1, Entry{Time: w.at + pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{c}}}})
	w.Publish()
	return out[0].Err()
}

// must expects the command to take effect.
func (w *writer) must(c Command) {
	w.t.Helper()
	if err := w.run(c); err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
}
