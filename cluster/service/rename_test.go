package service

import (
	"testing"

	"rampart/fsm/command"
)

// TestJobOf_FormerNames: a job is found by its number, and by each name of the server, whatever the
// server was called when it came.
func TestJobOf_FormerNames(t *testing.T) {
	b := newBench(t)
	old := b.mustSubmit("ann@h")
	b.do(&command.TermStarted{Leader: "s1", Name: "long"})
	young := b.mustSubmit("ann@h")
	v := b.store.View()
	former := v.Cluster().Former[0]
	for text, want := range map[string]string{
		"0": old, "0." + former: old, "0.long": old, "1": young, "1.long": young, "1." + former: young,
	} {
		if j, err := jobOf(v, text); err != nil || string(j.ID) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
