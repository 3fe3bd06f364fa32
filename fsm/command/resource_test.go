package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A resource that a job asks for cannot be deleted, wherever the job asks for it: one
// that is not consumable stands in its select only (specification: cli-contract section 5).
func TestManageResource_KeepsWhatJobsAskFor(t *testing.T) {
	w := newWriter(t)
	for _, name := range []string{"gpu_type", "gpu", "gpu_type_x"} {
		w.must(&ManageResource{Verb: VerbCreate, Name: name, Changes: []AttrChange{
			{Entry: attr.Entry{Name: "type", Value: "string"}}, {Entry: attr.Entry{Name: "flag", Value: "h"}},
		}})
	}
	w.must(&SubmitJob{
		Owner:      pbs.User{Name: "ann", Host: "a"},
		Attributes: attr.List{}.Set("Resource_List", "select", "2:ncpus=1+1:ncpus=1:gpu_type=fast"),
	})
	remove := func(name string) error { return w.run(&ManageResource{Verb: VerbDelete, Name: name}) }
	if err := remove("gpu_type"); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("a resource in a job's select was deleted: %v", err)
	}
	for _, name := range []string{"gpu", "gpu_type_x"} {
		if err := remove(name); err != nil {
			t.Errorf("%s is in nobody's select: %v", name, err)
		}
	}
	w.must(&DeleteJob{Job: "0.srv"})
	if err := remove("gpu_type"); err != nil {
		t.Errorf("the job is gone: %v", err)
	}
}
