package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
)

// What entities have used can be set, faded and cut down to those of resource_group by hand.
func TestManageShares(t *testing.T) {
	w := newWriter(t)
	usage := func() string {
		var all []string
		for s := range w.View().Shares() {
			all = append(all, fmt.Sprintf("%s=%d", s.Entity, s.Usage))
		}
		return strings.Join(all, " ")
	}
	w.must(&ManageSched{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "resource_group", Value: "ann 10 root 10"}}}})
	for _, step := range []struct {
		do   ManageShares
		want string
	}{
		{ManageShares{Verb: VerbSet, Entity: "ann", Usage: 100_000}, "ann=100000"},
		{ManageShares{Verb: VerbSet, Entity: "bob", Usage: 3000}, "ann=100000 bob=3000"},
		{ManageShares{Verb: VerbUnset}, "ann=50000 bob=1500"},
		{ManageShares{Verb: VerbUnset}, "ann=25000"}, // nobody has used less than one unit
		{ManageShares{Verb: VerbSet, Entity: "bob", Usage: 3000}, "ann=25000 bob=3000"},
		{ManageShares{Verb: VerbDelete}, "ann=25000"},
		{ManageShares{Verb: VerbSet, Entity: "ann", Usage: 1000}, ""},
	} {
		w.must(&step.do)
		if got := usage(); got != step.want {
			t.Errorf("after %+v: %s, want %s", step.do, got, step.want)
		}
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}
