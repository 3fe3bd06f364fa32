package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"ann", "ann", true},
		{"ann", "anna", false},
		{"*", "", true},
		{"*", "x", true},
		{"*.site.org", "a.site.org", true},
		{"*.site.org", "site.org", false},
		{"a*b*c", "axbyc", true},
		{"a*b*c", "axbyd", false},
		{"a*a", "a", false},
		{"a*b*b", "ab", false},
		{"", "", true},
		{"", "x", false},
		{strings.Repeat("*a", 40), strings.Repeat("a", 39) + "b", false}, // at once
	} {
		if got := Matches(c.pattern, c.text); got != c.want {
			t.Errorf("%q matches %q: %t", c.pattern, c.text, got)
		}
	}
}

// The first item that matches decides; who is not named is not let in.
func TestAccessLists(t *testing.T) {
	for _, c := range []struct {
		items string
		user  string
		want  bool
	}{
		{"ann", "ann@h", true},
		{"+ann@h", "ann@h", true},
		{"ann@other", "ann@h", false},
		{"-ann,ann", "ann@h", false},
		{"ann,-ann", "ann@h", true},
		{"-ann@h,+", "ann@h", false},
		{"-ann@h,+", "bob@h", true},
		{"-", "ann@h", false},
		{"*@*.ORG", "ann@a.org", true},
	} {
		if got := UserListed(strings.Split(c.items, ","), pbs.ParseUser(c.user)); got != c.want {
			t.Errorf("%s in %q: %t", c.user, c.items, got)
		}
	}
	if UserListed(nil, pbs.ParseUser("ann@h")) {
		t.Error("an empty list lets somebody in")
	}
}
