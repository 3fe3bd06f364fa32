package sched_test

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
)

// A resource with flag f is consumed at the first host only: by the first chunk, however
// many there are (specification: cli-contract section 5).
func TestMake_FirstHostOnly(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "dongle", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "fh"}},
	}})
	b.host("hosta", "hosta:ncpus=8,dongle=2")
	b.submit("select=3:ncpus=1:dongle=1+1:ncpus=2:dongle=1")
	b.submit("select=1:ncpus=1:dongle=1")
	b.submit("select=1:ncpus=1:dongle=1")
	p := b.plan()
	want := "start 0 (hosta:ncpus=1:dongle=1)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=2)\n" +
		"start 1 (hosta:ncpus=1:dongle=1)\n" +
		"comment 2 Not Running: Insufficient amount of resource: dongle (R: 1 A: 0 T: 2)"
	if got := text(p); got != want {
		t.Errorf("planned\n%s\nwant\n%s", got, want)
	}
	b.apply(p)
}
