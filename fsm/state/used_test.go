package state

import (
	"slices"
	"testing"

	"rampart/fsm/resource"
)

func TestAlsoUsed(t *testing.T) {
	before := []string{"mem", "ncpus"}
	list := resource.List{{Name: "foo", Value: "1"}, {Name: "ncpus", Value: "2"}, {Name: "nodect", Value: "1"}}
	all, more := alsoUsed(before, list)
	if want := []string{"foo", "mem", "ncpus", "nodect"}; !more || !slices.Equal(all, want) {
		t.Errorf("%q, %v; want %q", all, more, want)
	}
	if !slices.Equal(before, []string{"mem", "ncpus"}) {
		t.Errorf("the record was changed in place: %q", before)
	}
	if again, more := alsoUsed(all, list); more || !slices.Equal(again, all) {
		t.Errorf("again: %q, %v", again, more)
	}
}
