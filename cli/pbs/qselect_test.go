package pbs

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
)

// Names that no job and no user can have are refused before anybody is asked.
func TestQselect_LongNames(t *testing.T) {
	long := strings.Repeat("a", maxUser)
	for value, want := range map[string]bool{
		"": false, long: true, long + "b": false, "ann," + long + "@" + long: true, "ann@" + long + "b": false,
	} {
		if _, ok := selectOwner(nil, value); ok != want {
			t.Errorf("-u of %d characters is taken: %v", len(value), ok)
		}
	}
	byName := selectText("Job_Name", attr.MaxJobName)
	for n, want := range map[int]bool{0: false, attr.MaxJobName: true, attr.MaxJobName + 1: false} {
		if _, ok := byName(nil, strings.Repeat("a", n)); ok != want {
			t.Errorf("-N of %d characters is taken: %v", n, ok)
		}
	}
}
