package command

import (
	"testing"

	"rampart/fsm/pbs"
)

func TestSetRTTClass(t *testing.T) {
	w := newMembers(t)
	for _, class := range []string{"", "moon"} {
		if w.run(&SetRTTClass{Class: "wan"}) != nil || w.run(&SetRTTClass{Class: pbs.RTTClass(class)}) == nil {
			t.Errorf("%q was taken", class)
		}
	}
	if c := w.store.View().Cluster().RTTClass; c != "wan" || c.Factor() != 5 {
		t.Errorf("class %s, factor %d", c, c.Factor())
	}
	w.must(&SetRTTClass{Class: "lan"})
}
