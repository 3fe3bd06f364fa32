package pbs

import "testing"

func TestParseStaged(t *testing.T) {
	for text, want := range map[string]Staged{
		"a@h:b":                   {"a", "h", "b"},
		"in/*.dat@login.x.org:/d": {"in/*.dat", "login.x.org", "/d"},
		"a@b@h:c:d":               {"a@b", "h", "c:d"},
		"a b@h:c d":               {"a b", "h", "c d"},
	} {
		if got, ok := ParseStaged(text); !ok || got != want {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "a", "a@h", "a:b", "@h:b", "a@:b", "a@h:", "a@-oProxyCommand=x:b", "a@h/x:b", "a@h h:b", "a:b@h"} {
		if got, ok := ParseStaged(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
