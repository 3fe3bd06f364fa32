package member

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

func TestWithoutQuorum_NamesWhoToStart(t *testing.T) {
	status := func(name, role string, voter bool) Status {
		return Status{Self: state.Replica{Name: pbs.ReplicaName(name)}, Role: Role(role), Voter: voter}
	}
	two := []Status{status("s1", "follower", true), status("s2", "unreachable", true), status("s3", "unreachable", true), status("s4", "nonvoter", false)}
	if got := WithoutQuorum(two); !strings.HasPrefix(got, "start s2 and s3. ") || !strings.Contains(got, "cluster recover") {
		t.Errorf("it says %q", got)
	}
	for _, all := range [][]Status{nil, two[:1], {two[0], two[0], two[1]}, {two[0], two[0], two[0]}} {
		if got := WithoutQuorum(all); got != "" {
			t.Errorf("%d members: %q", len(all), got)
		}
	}
}
