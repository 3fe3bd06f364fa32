package resource

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

func TestTold(t *testing.T) {
	said := [][2]string{{"mem", "1kb"}, {"cput", "00:00:01"}, {"", "x"}, {"a b", "x"}, {"vmem", ""}, {"long", strings.Repeat("x", pbs.MaxValue+1)}, {"mem", "2kb"}}
	got := Told(func(yield func(string, string) bool) {
		for _, s := range said {
			if !yield(s[0], s[1]) {
				return
			}
		}
	})
	if want := (List{{Name: "cput", Value: "00:00:01"}, {Name: "mem", Value: "2kb"}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
