package command

import (
	"testing"

	"rampart/fsm/attr"
)

// TestHistory_SwitchedOff: who switches the history off forgets the finished jobs that are in it; those that
// wait and run stay.
func TestHistory_SwitchedOff(t *testing.T) {
	w := newReserving(t)
	history := func(value string) {
		w.do(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: value}}}})
	}
	jobs := func() (n int) {
		for range w.View().Jobs() {
			n++
		}
		return n
	}
	history("True")
	const ended = 5
	for range ended {
		id, err := w.submit("workq", "(hosta:ncpus=1)", "select", "1:ncpus=1")
		if err != nil {
			t.Fatal(err)
		}
		w.end(id, 0)
	}
	if _, err := w.submit("workq", "(hosta:ncpus=1)", "select", "1:ncpus=1"); err != nil {
		t.Fatal(err)
	}
	if n := jobs(); n != ended+1 {
		t.Fatalf("%d jobs, want %d", n, ended+1)
	}
	history("False")
	if n := jobs(); n != 1 {
		t.Errorf("%d jobs afterwards, want 1", n)
	}
}
