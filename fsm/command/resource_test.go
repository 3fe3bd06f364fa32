package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
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

// What objects only have set of a resource goes with it; what a job names, a finished one too, or
// suspended jobs are to release, keeps it.
func TestManageResource_DeletesWhatIsSet(t *testing.T) {
	w := newWriter(t)
	for _, name := range []string{"foo", "bar"} {
		w.must(&ManageResource{Verb: VerbCreate, Name: name, Changes: []AttrChange{
			{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}},
		}})
	}
	foo := func(name, value string) []AttrChange {
		return []AttrChange{{Entry: attr.Entry{Name: name, Resource: "foo", Value: value}}}
	}
	w.must(&ManageServer{Verb: VerbSet, Changes: foo("resources_available", "5")})
	w.must(&ManageServer{Verb: VerbSet, Changes: foo("default_chunk", "1")})
	w.must(&ManageQueue{Verb: VerbSet, Queue: "workq", Changes: foo("resources_default", "1")})
	w.must(&HostUp{Host: "h", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "foo", Value: "3"}, {Name: "ncpus", Value: "1"}}}}})
	w.must(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: foo("resources_available", "4")})

	suspended := []AttrChange{{Entry: attr.Entry{Name: "restrict_res_to_release_on_suspend", Value: "ncpus,foo"}}}
	w.must(&ManageServer{Verb: VerbSet, Changes: suspended})
	remove := func() error { return w.run(&ManageResource{Verb: VerbDelete, Name: "foo"}) }
	if err := remove(); pbs.CodeOf(err) != pbs.ResourceBusy || err.Error() != "Resource busy on server" {
		t.Errorf("suspended jobs are to release it: %v", err)
	}
	suspended[0].Entry.Value = "ncpus"
	w.must(&ManageServer{Verb: VerbSet, Changes: suspended})
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	v, _ := w.View().Vnode("h")
	q, _ := w.View().Queue("workq")
	for _, list := range []attr.List{w.View().ServerAttributes(), w.View().QueueAttributes(q), w.View().VnodeAttributes(v)} {
		if names(list, "foo") {
			t.Errorf("%v", list)
		}
	}

	w.must(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_history_enable", Value: "True"}}}})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}.Set("Resource_List", "bar", "1")})
	w.must(&DeleteJob{Job: "0.srv"})
	err := w.run(&ManageResource{Verb: VerbDelete, Name: "bar"})
	if _, kept := w.View().Job("0.srv"); kept && (pbs.CodeOf(err) != pbs.ResourceBusy || err.Error() != "Resource busy on job") {
		t.Errorf("a finished job has it: %v", err)
	}
}

// Who may see and set a resource can change while it is in use; what it means cannot.
func TestManageResource_FlagsInUse(t *testing.T) {
	w := newWriter(t)
	change := func(verb Verb, name, value string) error {
		return w.run(&ManageResource{Verb: verb, Name: "foo", Changes: []AttrChange{{Entry: attr.Entry{Name: name, Value: value}}}})
	}
	if err := change(VerbCreate, "type", "long"); err != nil {
		t.Fatal(err)
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}.Set("Resource_List", "foo", "1")})
	for _, flags := range []string{"r", "i"} {
		if err := change(VerbSet, "flag", flags); err != nil {
			t.Errorf("flag=%s: %v", flags, err)
		}
	}
	for name, value := range map[string]string{"flag": "q", "type": "string"} {
		if err := change(VerbSet, name, value); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
