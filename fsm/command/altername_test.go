package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
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

	old := newWriter(t)
	old.must(&HostUp{Host: "h", Address: "h:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h"}}})
	old.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	old.must(&StartJob{Job: "0.srv", ExecVnode: "(h:ncpus=0)"})
	if err := old.run(&AlterJob{Job: "0.srv", Changes: []AttrChange{{Entry: attr.Entry{Name: "Job_Name", Value: "test"}}}}); pbs.CodeOf(err) != pbs.RunningAttribute {
		t.Errorf("below the level: %v", err)
	}
}
