package member

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// in makes the voters of a cluster, one for each zone named; "-" is none.
func in(zones string) []Status {
	var all []Status
	for i, z := range strings.Fields(zones) {
		s := status(Follower)
		if i == 0 {
			s = status(Leader)
		}
		s.Self = state.Replica{Name: pbs.ReplicaName("s" + string(rune('1'+i))), Zone: strings.Trim(z, "-")}
		all = append(all, s)
	}
	return all
}

func TestZones_TheLossOfOneMustLeaveAQuorum(t *testing.T) {
	for _, c := range []struct{ zones, advice string }{
		{"a b c", ""},
		{"- - -", ""},
		{"a a b", "zone a holds 2 of 3 voters (s1, s2)"},
		{"a b b c c", ""},
		{"a b b c b", "zone b holds 3 of 5 voters (s2, s3, s5)"},
		{"a a b b", "zone a holds 2 of 4 voters"}, // two of four are no quorum
		{"a a", "neither of the two voters may fail"},
		{"a b", "neither of the two voters may fail"},
		{"a", "the only voter must not fail"},
		{"-", "the only voter must not fail"},
		{"a b -", "not known in which zone these are: s3"},
		{"a a b b c c d", ""},
	} {
		all := in(c.zones)
		advice := strings.Join(Advise(all), "\n")
		if (advice == "") != (c.advice == "") || !strings.Contains(advice, c.advice) {
			t.Errorf("%s: %q", c.zones, advice)
		}
		want := AllWell
		if c.advice != "" {
			want = Impaired
		}
		if _, got, _ := Assess(all); got != want {
			t.Errorf("%s: %s", c.zones, got)
		}
	}
	all := in("a a b b c")
	all[4].Role, all[4].Term = Unreachable, 0 // one more may fail, but not one more zone
	if got := strings.Join(Advise(all), "\n"); !strings.HasPrefix(got, "zone a holds 2 of the 4 voters that answer, of 5 (s1, s2): if it is lost now,") {
		t.Errorf("%q", got)
	}
	all[3].Role, all[3].Term = Unreachable, 0 // none may fail, which is said
	if got := Advise(all); got != nil {
		t.Errorf("%q", got)
	}
	all = in("a b c a")
	all[3].Voter = false // joins
	if got := Advise(all); got != nil {
		t.Errorf("one that does not vote counts: %q", got)
	}
}
