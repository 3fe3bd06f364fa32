package command

import (
	"slices"
	"strings"
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

// A site creates ngpus as guides to GPUs say, which is there already: it is the same before, meanwhile and after it is
// deleted. What would make it another resource is refused.
func TestManageResource_NGPUs(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "h", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "ncpus", Value: "4"}, {Name: "ngpus", Value: "2"}}}}})
	manage := func(verb Verb, changes ...string) error {
		c := &ManageResource{Verb: verb, Name: "ngpus"}
		for _, text := range changes {
			name, value, set := strings.Cut(text, "=")
			ch := AttrChange{Entry: attr.Entry{Name: name, Value: value}}
			if !set {
				ch.Op = OpUnset
			}
			c.Changes = append(c.Changes, ch)
		}
		return w.run(c)
	}
	shows := func(what, available string, custom int) {
		t.Helper()
		def, _ := w.View().Resource("ngpus")
		vn, _ := w.View().Vnode("h")
		n, _ := vn.Available().Get("ngpus")
		if got := len(slices.Collect(w.View().CustomResources())); def.Type != resource.Long || !def.AtVnodes() || n != available || got != custom {
			t.Errorf("%s: %v, %s available, %d custom resources", what, def, n, got)
		}
		if err := w.View().Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, other := range [][]string{{"type=float", "flag=hn"}, {"type=long", "flag=h"}, {"type=string"}, {"flag"}} {
		if err := manage(VerbCreate, other...); pbs.CodeOf(err) != pbs.BadAttributeValue || err.Error() != "ngpus is type=long,flag=hn" {
			t.Errorf("created with %v: %v", other, err)
		}
	}
	if err := manage(VerbDelete); pbs.CodeOf(err) != pbs.ReadOnlyAttribute {
		t.Errorf("deleted: %v", err)
	}
	for _, created := range [][]string{nil, {"type=long", "flag=nh"}} {
		if err := manage(VerbCreate, created...); err != nil {
			t.Fatalf("create with %v: %v", created, err)
		}
		if err := manage(VerbCreate, created...); pbs.CodeOf(err) != pbs.DuplicateEntry {
			t.Errorf("created twice: %v", err)
		}
		for _, change := range []string{"type=long", "flag=hn", "flag=hnr"} {
			if err := manage(VerbSet, change); err != nil {
				t.Errorf("set %s: %v", change, err)
			}
		}
		if err := manage(VerbSet, "type=size"); pbs.CodeOf(err) != pbs.BadAttributeValue {
			t.Errorf("another type: %v", err)
		}
		shows("created", "2", 1)
		w.must(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ngpus", Value: "4"}}}})
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List{}.Set("Resource_List", "select", "1:ncpus=1:ngpus=3")})
		job := pbs.NewJobID(w.View().Cluster().NextJob-1, "srv")
		w.must(&StartJob{Job: job, ExecVnode: "(h:ncpus=1:ngpus=3)"})
		if err := manage(VerbDelete); pbs.CodeOf(err) != pbs.ResourceBusy {
			t.Errorf("deleted while a job has some: %v", err)
		}
		shows("in use", "4", 1)
		w.must(&DeleteJob{Job: job, Force: true})
		if err := manage(VerbDelete); err != nil {
			t.Errorf("delete: %v", err)
		}
		shows("deleted", "2", 0)
	}
}
