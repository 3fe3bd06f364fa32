package command

import (
	"testing"

	"rampart/fsm/attr"
)

// The name of a running job may be altered (specification: ramp-down RD-6). Its mom keeps the old one, by
// which the files of its output are called.
func TestAlterJob_NameOfARunningJob(t *testing.T) {
	w := newReleasing(t)
	w.confirm("hosta", nil)
	w.must(&AlterJob{Job: w.job, Changes: []AttrChange{{Entry: attr.Entry{Name: "Job_Name", Value: "test"}}}})
	if j := w.now(); j.Name != "test" {
		t.Errorf("the name is %s", j.Name)
	}
	for o := range w.View().Orders("hosta") {
		t.Errorf("an order of kind %d", o.Kind)
	}
}
