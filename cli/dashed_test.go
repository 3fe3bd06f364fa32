package cli

import (
	"slices"
	"testing"
)

// Options of several letters behind one dash are themselves, and no bundle of letters.
func TestParse_Dashed(t *testing.T) {
	g := Grammar{Letters: "+jo:n:l", Dashed: map[string]bool{"json": false, "We": true}}
	l := g.Parse([]string{"-json", "-We", "5", "-lj", "-n", "2", "sleep", "-json"})
	want := []Option{{"json", ""}, {"We", "5"}, {"l", ""}, {"j", ""}, {"n", "2"}}
	if !slices.Equal(l.Options, want) || !slices.Equal(l.Operands, []string{"sleep", "-json"}) || len(l.Faults) > 0 {
		t.Errorf("%+v", l)
	}
	if l := g.Parse([]string{"-We"}); len(l.Faults) != 1 || l.Faults[0] != "option '--We' requires an argument" {
		t.Errorf("%+v", l)
	}
}

func TestOptions_Under(t *testing.T) {
	g := Grammar{Letters: "n:R:q:"}
	below, over := OptionsOf(g.Parse([]string{"-n", "1", "-R", "a", "-R", "b"})), OptionsOf(g.Parse([]string{"-n", "2", "-q", "x"}))
	both := below.Under(over)
	if !slices.Equal(both.All("n"), []string{"2"}) || !slices.Equal(both.All("R"), []string{"a", "b"}) || both.Last("q") != "x" || below.Last("n") != "1" {
		t.Errorf("%+v", both)
	}
}
