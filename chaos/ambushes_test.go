package chaos

import (
	"slices"
	"testing"

	"rampart/fsm/command"
)

// unprovoked are the kinds of commands at which no scenario kills a leader, and why.
var unprovoked = map[string]string{}

// Every kind of command has a scenario in which a leader dies at it, or a reason.
func TestAmbushes_EveryKindOfCommand(t *testing.T) {
	known := command.Names()
	covered := append(Early(), Later()...)
	for _, kind := range known {
		if slices.Contains(covered, kind) == (unprovoked[kind] != "") {
			t.Errorf("%s needs a scenario (ambushes.go), or else a reason", kind)
		}
	}
	for _, kind := range covered {
		if !slices.Contains(known, kind) {
			t.Errorf("there is no kind of command called %s", kind)
		}
	}
	if len(Ambushes()) != len(covered) {
		t.Errorf("%d scenarios for %d kinds", len(Ambushes()), len(covered))
	}
}
