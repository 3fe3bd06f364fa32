package sched_test

import (
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
)

func TestPlaceOne(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=4,mem=8gb")
	b.host("hostb", "hostb:ncpus=8,mem=8gb")
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "started", Value: "False"}}}})
	for _, c := range []struct{ request, where, why string }{
		{"select=1:ncpus=6:mem=1gb", "(hostb:ncpus=6:mem=1048576kb)", ""},
		{"select=1:ncpus=1", "(hosta:ncpus=1)", ""},
		{"select=1:ncpus=64", "", "Insufficient amount of resource: ncpus (R: 64 A: 12 T: 12)"},
	} {
		id := b.submit(c.request)
		v := b.store.Publish()
		j, _ := v.Job(id)
		if where, why := sched.PlaceOne(v, j); where != c.where || why != c.why {
			t.Errorf("%s: %q, %q, want %q, %q", c.request, where, why, c.where, c.why)
		}
	}
}
