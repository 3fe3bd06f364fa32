package pbs_test

import (
	"slices"
	"testing"

	"rampart/fsm/pbs"
)

// Words that were wrapped come out as they were given, in number and order.
func FuzzUnwrap(f *testing.F) {
	f.Add("<jsdl-hpcpa:Argument>600</jsdl-hpcpa:Argument><jsdl-hpcpa:Argument>a&amp;b</jsdl-hpcpa:Argument>", "600", "a b")
	f.Add("<jsdl-hpcpa:Argument>", "</jsdl-hpcpa:Argument>", "&lt;")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		if all := pbs.Unwrap(pbs.Argument, text); len(all) > len(text) {
			t.Errorf("%q has %d arguments", text, len(all))
		}
		if all := pbs.Unwrap(pbs.Executable, text); len(all) == 0 && text != "" {
			t.Errorf("%q names no program", text)
		}
		if got := pbs.Unwrap(pbs.Argument, pbs.Wrap(pbs.Argument, one, two)); !slices.Equal(got, []string{one, two}) {
			t.Errorf("%q came out as %q", []string{one, two}, got)
		}
	})
}
