package task

import (
	"testing"

	"rampart/mom/spool"
)

// A run whose program was not started, and cannot be any more since its shim is barred, is given back by word of mouth while the
// disk takes not even that; before the bar it is not, for a shim may still come (L2).
func TestGivenBack_BehindTheBar(t *testing.T) {
	failed := in(Delivering)
	failed.Result = &spool.Ended{NeverStarted: true}
	for _, c := range []struct {
		name string
		ev   Event
		back bool
	}{
		{"barred", Delivered{}, true},
		{"a shim was there", Found{}, false},
	} {
		if _, back := (mother{failed}).givenBack(c.ev, Failed{}); back != c.back {
			t.Errorf("%s: given back %v", c.name, back)
		}
	}
}
