package command_test

import (
	"slices"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// TestRename: jobs that were there keep their identifiers, newer ones have the new name.
func TestRename(t *testing.T) {
	b := newHaltBench(t)
	for _, name := range []string{"long", "long", "", "srv", "long"} {
		b.do(&command.TermStarted{Leader: "s1", Name: name})
	}
	if cl := b.s.View().Cluster(); cl.Name != "long" || !slices.Equal(cl.Former, []string{"srv", "long"}) {
		t.Errorf("it is %s, and was %v", cl.Name, cl.Former)
	}
	b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}})
	for _, id := range []pbs.JobID{"0.srv", "1.long"} {
		if _, ok := b.s.View().Job(id); !ok {
			t.Errorf("there is no %s", id)
		}
	}
	b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: attr.List{}.Set("depend", "", "afterany:0:0.long:1.srv")})
	if j, _ := b.s.View().Job("2.long"); j == nil || j.Depends.Text(j.ID) != "afterany:0.srv@long:1.long@long" {
		t.Errorf("a job that waits for older ones is %+v", j)
	}
}
